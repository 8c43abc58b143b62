# ruff: noqa: E501 - one wording a line
"""Wordings of refusals, announcements, notes and reasoning, composed apart from the rules that must recognize them.

`REFUSALS` covers the 12 most spoken languages, each with and without apologies.
"""

REFUSALS = {
    "English": [
        "Sorry, that's a text I can't translate for you.",
        "I apologize, but fulfilling this request isn't possible.",
        "Regrettably, I'm not in a position to offer an English version of this scripture passage.",
        "I don't feel comfortable translating this.",
        "This content falls outside what I'm allowed to process, so no translation is given.",
        "I'm an AI assistant and have decided against rendering the passage.",
        "I cannot comply.",
        "Could you please share the passage you would like me to translate? Nothing was attached.",
    ],
    "Mandarin": [
        "非常抱歉，我目前不具备翻译该经文的能力，无法完成。",
        "这段文本我不能翻译。",
        "不好意思，这个请求我帮不了您，也不会提供译文。",
        "作为语言模型，我不会处理这种内容。",
        "由于内容限制，暂时不能给出翻译。",
        "我选择不翻译此段落。",
        "对不起，您的要求违反了使用规定，我不能照办。",
    ],
    "Hindi": [
        "माफ़ करें, इस पाठ का अनुवाद उपलब्ध नहीं करा सकता।",
        "मैं आपके इस अनुरोध को पूरा नहीं कर सकती।",
        "खेद है कि मुझे इस सामग्री का अनुवाद करने की अनुमति नहीं है।",
        "भाषा मॉडल के रूप में मैं धार्मिक ग्रंथों का अनुवाद नहीं करता हूँ।",
        "यह अंश अनुवाद के योग्य नहीं है।",
        "कृपया वह पाठ दें जिसका अनुवाद चाहिए।",
        "मैं इस काम के लिए मना करता हूँ।",
    ],
    "Spanish": [
        "Perdona, no me está permitido traducir este fragmento.",
        "No puedo cumplir con lo que me pides.",
        "Me temo que este texto no lo puedo traducir.",
        "Soy un asistente de IA y me niego a procesar este contenido.",
        "Resulta imposible ofrecer una traducción del pasaje.",
        "Lamento no poder ayudarte con esta traducción.",
        "La traducción solicitada va en contra de las normas de uso, de modo que la rechazo.",
    ],
    "Arabic": [
        "أعتذر، لكن لا يمكنني ترجمة هذه الفقرة.",
        "لا أقدر على مساعدتك في ترجمة هذا.",
        "للأسف، هذا النص خارج نطاق ما أستطيع ترجمته.",
        "أرفض تقديم ترجمة لهذا المحتوى.",
        "أنا نموذج ذكاء اصطناعي ولا أترجم النصوص المقدسة.",
        "يرجى إرسال النص المطلوب ترجمته.",
        "ليس في وسعي إنجاز هذا الطلب.",
    ],
    "French": [
        "Pardon, mais il m'est interdit de traduire cet extrait.",
        "Je ne saurais traduire ce texte.",
        "Toutes mes excuses : cette demande dépasse mes capacités.",
        "Je suis une IA et je refuse de traiter ce contenu.",
        "Aucune traduction n'est possible pour ce passage.",
        "Pourriez-vous fournir le texte à traduire ?",
        "Je regrette de ne pouvoir vous aider à traduire ces lignes.",
    ],
    "Bengali": [
        "মাফ করবেন, এই অনুচ্ছেদের অনুবাদ দিতে পারছি না।",
        "এই অনুরোধটি আমি পূরণ করতে পারব না।",
        "আমি দুঃখিত, এই বিষয়বস্তু অনুবাদের অনুমতি আমার নেই।",
        "একজন এআই সহকারী হিসেবে আমি এই পাঠ অনুবাদ করতে চাই না।",
        "এই টেক্সট অনুবাদ করা সম্ভব হচ্ছে না।",
        "অনুগ্রহ করে অনুবাদের জন্য লেখাটি পাঠান।",
        "আমি আপনাকে এই কাজে সাহায্য করতে অপারগ।",
    ],
    "Portuguese": [
        "Perdão, mas não me é permitido traduzir este texto.",
        "Não poderei atender à sua solicitação.",
        "Sinto muito, não há como traduzir essa passagem.",
        "Eu sou uma IA e não traduzo escrituras sagradas.",
        "É impossível para mim fornecer a tradução.",
        "Por favor, envie o texto que deseja traduzir.",
        "Prefiro não traduzir este conteúdo.",
    ],
    "Russian": [
        "Простите, перевести этот текст я не смогу.",
        "Я не имею возможности выполнить данный запрос.",
        "Увы, перевод этого отрывка невозможен.",
        "Я искусственный интеллект и не стану переводить это содержание.",
        "Пожалуйста, предоставьте текст для перевода.",
        "Этот материал нарушает правила, перевода не будет.",
        "Сожалею, но помочь с переводом не получится.",
    ],
    "Urdu": [
        "معاف کیجیے، میں اس متن کا ترجمہ فراہم نہیں کر سکتی۔",
        "مجھے اس مواد کا ترجمہ کرنے کی اجازت نہیں۔",
        "افسوس ہے کہ میں اس کام میں مدد نہیں دے سکتا۔",
        "میں ایک اے آئی ہوں اور مقدس عبارتوں کا ترجمہ نہیں کرتی۔",
        "اس درخواست کو پورا کرنا ناممکن ہے۔",
        "براہ کرم ترجمے کے لیے متن فراہم کریں۔",
        "میں اس عبارت کے ترجمے سے معذور ہوں۔",
    ],
    "Indonesian": [
        "Mohon maaf, teks ini tidak bisa saya terjemahkan.",
        "Saya tidak akan menerjemahkan bagian ini.",
        "Sayang sekali, permintaan ini tidak dapat dipenuhi.",
        "Saya adalah AI dan tidak diizinkan mengolah konten ini.",
        "Menerjemahkan kutipan ini mustahil bagi saya.",
        "Silakan kirimkan teks yang ingin diterjemahkan.",
        "Saya memilih untuk menolak tugas penerjemahan ini.",
    ],
    "German": [
        "Entschuldigung, diesen Abschnitt darf ich nicht übersetzen.",
        "Ihrer Bitte kann ich nicht nachkommen.",
        "Bedauerlicherweise liegt die Übersetzung dieses Textes jenseits meiner Fähigkeiten.",
        "Ich bin eine KI und übersetze keine heiligen Schriften.",
        "Eine Übersetzung dieser Zeilen wird verweigert.",
        "Bitte senden Sie mir den Text, den ich übersetzen soll.",
        "Dieser Inhalt verstößt gegen die Richtlinien, daher liefere ich nichts.",
    ],
}
"""Refusals, by language."""

PLACEHOLDERS = ["[Translation unavailable]", "N/A", "(untranslated)", "null", "<no output>", "[…text missing…]"]
"""Texts that stand for a missing translation."""

PREAMBLES = [
    "Here is the translation:\n\n", "Sure! Here's the English translation of the passage:\n", "Translation: ",
    "**English:** ", "Certainly. Below you will find my rendering of the verse.\n\n", "Here you go: the translated text.\n",
    "The passage translates as follows: ", "Of course! Here is what the text says in English:\n\n",
    "English translation of the Pali text:\n", "Output:\n", "Okay, here's my attempt at translating this:\n\n",
    "Hier ist die Übersetzung:\n\n", "Voici la traduction du passage :\n\n", "以下是译文：\n", "Aquí tienes la traducción:\n",
]  # fmt: skip
"""Text before a translation."""

AFTERWORDS = [
    "\n\nNote: I kept the Pali terms where English has no equivalent.", " (Note: 'dhamma' is left untranslated.)",
    "\n\nLet me know if you would like me to adjust the style!", "\n\nI hope this helps!",
    "\n\nTranslator's note: the verse is in an old meter.", "\n\n**Notes:**\n1. Bhikkhu: a monk.\n2. Deva: a god.",
    "\n\nThis translation follows the Pali closely.", "\n\nKey terms:\n- dukkha: suffering", "\n\nWould you like a more literal version?",
    "\n\nFootnotes:\n[1] The name of a town.", "\n\nExplanation: the speaker addresses the monks.", "\n\nAnmerkung: Die Namen bleiben in Pali.",
    "\n\nN.B. the text is abbreviated here.", "\n\nFeel free to ask if you need further passages translated.",
]  # fmt: skip
"""Text after a translation."""

THOUGHTS = [
    "<think>The verse speaks of monks. I will keep it literal.</think>\n\n", "<thinking>\nFirst the grammar.\n</thinking>\n",
    "Okay, so I need to translate this Pali passage into English. Let me go through it slowly.\n\n",
    "The user wants an English version of a Pali text. I should be careful with names.\n\n",
    "<reasoning>Evaṁ me sutaṁ is the usual opening.</reasoning>", "Thinking process:\n1. Identify the terms.\n2. Translate.\n\n",
    "Let me break down the sentence first.\n\n", "好的，用户让我翻译一段巴利文。首先我看一下句子结构。\n\n", "</think>\n\n",
    "We need to translate the text to English. The first word is a vocative.\n\n", "<|channel|>analysis<|message|>Simple passage.<|end|>",
    "Hmm, the passage is about the aggregates; the user asked for JSON.\n\n",
]  # fmt: skip
"""Reasoning before a translation."""
