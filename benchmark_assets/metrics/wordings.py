# ruff: noqa: E501 - word lists are easier to compare on one line
"""Wordings by which models talk about a translation or refuse it, in the 12 most spoken languages and in Japanese.

Here: regular expressions for texts in NFKC and lower case, with straight apostrophes. Not here: decisions from matches
(metrics.packaging).

A refusal has two parts: a stem that denies something (`DENIALS`), and a stem of the task that is denied (`TASKS`). Any
such pair in one language counts, so that refusals in unlisted wordings are found, too. Stems cover inflected forms.
"""

import re
import unicodedata
from re import Pattern


def _pattern(expression: str) -> Pattern[str]:
    """Compile an expression in NFKC, the form of the texts: some letters of Hindi and Bengali have two spellings."""
    return re.compile(unicodedata.normalize("NFKC", expression))


DENIALS = {
    "English": r"can(?:no|')t\b|can not|unable|not able|won't|will not|wouldn't|would rather not|rather not"
    r"|not (?:possible|permitted|allowed|comfortable|in a position|willing|going to|something i|appropriate|capable)"
    r"|impossible|declin|refus|do(?:n't| not) (?:feel|have|know|understand|translate|support)|prohibit|forbid|prevent"
    r"|\bagainst (?:my|the|our)|prefer not|turn\w* (?:\w+ )?down|inappropriate|unwilling|not (?:be |really |currently |something )?(?:able|appropriate|possible|offer|produce|available|work|something)|(?:beyond|outside|exceed)\w* (?:of )?my|violat|no (?:translation|text)|isn't (?:possible|something)"
    r"|(?:have|need|'ve|obliged|forced) to (?:pass|skip|stop|turn)|must (?:not|pass|turn)|couldn't|could not|withheld",
    "Mandarin": "无法|無法|不能|不可以|不便|不方便|拒绝|拒絕|没有办法|沒有辦法|没办法|没法|沒法|不予|不会|不會|难以|難以|恕|不适合|不適合|不被允许"
    "|无能为力|不支持|不支援|谢绝|婉拒|不愿|超出|违反|違反|不提供|做不到|不可能|不允许|不翻译",
    "Hindi": "नहीं|असमर्थ|अक्षम|असंभव|असम्भव|इनकार|इंकार|मना कर|अस्वीकार|वर्जित|मनाही",
    "Spanish": r"\bno (?:puedo|podr|puede|podemos|me (?:es|est|permit|result|siento)|es posible|estoy|voy a|debo|tengo|quiero"
    r"|se me|soy capaz|dispongo|cuento|me)|\bprefer\w+ no\b|imposib|incapaz|\bniego|negar|rechaz|declin|\bimpide|prohib|viola",
    "Arabic": "لا (?:أستطيع|استطيع|يمكن|أقدر|أملك|يسعني|أتمكن|يجوز|يُسمح|يسمح|أ)|لن |لست|ليس (?:بإمكان|بوسع|في|من|لدي)|ليست |ليس |عدم |غير (?:قادر|ممكن|مسموح|متاح)"
    "|يتعذر|تعذر|أرفض|رفض|عاجز|عجز|مستحيل|أعجز|لم أ|يستحيل|أمتنع|ممنوع",
    "French": r"\bn(?:e |')(?:\w+ ){0,2}?(?:peu[xt]|puis|pourr|pouv|sui?s|saur|veu[xt]|dois|est|ai|serai|m')|\bne (?:pas|plus)\b|impossib|incapa|refus|déclin"
    r"|interdi|pas en mesure|pas possible|pas capable|abstenir|contraire",
    "Bengali": "পারব না|পারবো না|পারছি না|পারি না|পারলাম না|পারব\u09be না|সক্ষম নই|অক্ষম|সম্ভব (?:নয়|হচ্ছে না|না|নয়)|অসম্ভব|অপারগ|অস্বীকার"
    "|না পার|করব না|নেই|অনুমতি নেই|প্রত্যাখ্যান|যাবে না|যাচ্ছে না|করছি না|রাজি নই|নই|নয়",
    "Portuguese": r"\bnão (?:posso|consigo|poder|pode|sou|é poss|estou|vou|devo|me|tenho|quero|há|disponho|será)|impossí|incapaz|recus|declin"
    r"|impedid|proib|\bnego|viola",
    "Russian": r"\bне (?:могу|могут|смог|мог|буд|имею|в (?:состоянии|силах)|способ|получ|переве|перевож|уда|возможн|предусмотрен|разреш|хочу"
    r"|вправе|позвол|предостав|представля|стан|уме|готов)|невозможн|нельзя|отказ|отклон|запрещ|вынужден|противореч|не могу",
    "Urdu": "نہیں|قاصر|ناممکن|انکار|معذور|منع",
    "Indonesian": r"\b(?:tidak|tak|belum|nggak|enggak) (?:dapat|bisa|mampu|mungkin|boleh|akan|bersedia|diizin|diperken|sanggup|memungkin"
    r"|di|me|ter|punya|ada|ingin|se)|menolak|mustahil|keberatan|terpaksa|dilarang|melanggar|di luar",
    "German": r"\b(?:kann|könnte|konnte|darf|möchte|werde|will|vermag|können|dürfen|ist|bin|sehe|habe)\b[^.!?]{0,120}\b(?:nicht|keine?[nrms]?"
    r"|unmöglich|untersagt|außerstande|abzulehnen|ablehnen|gezwungen)\b|nicht (?:möglich|imstande|in der lage|erlaubt|übersetz|helfen)"
    r"|unmöglich|\blehne\b|ablehn|weiger|außerstande|verbiet|verstößt|kein[en]? übersetz",
    "Japanese": "できません|できない|かねます|不可能|断り|られません|控え|ません",
}
"""Stems that deny an ability, a permission or a wish."""

TASKS = {
    "English": r"translat|\brender|assist|\bhelp|request|comply|fulfil|this (?:text|passage|content|material|one|task)|(?:text|passage|content) "
    r"(?:you|that|provided|above)|excerpt|language model|\ba\.?i\b|guideline|polic(?:y|ies)|copyright|instruction|provide",
    "Mandarin": "翻译|翻譯|译文|譯文|译出|協助|协助|帮助|幫助|帮您|帮你|帮忙|请求|請求|要求|文本|内容|內容|段落|经文|这段|這段|此段|文字|任务|語言模型|语言模型|人工智能|政策|准则|规定|提供",
    "Hindi": "अनुवाद|सहायता|मदद|अनुरोध|पाठ|सामग्री|अंश|काम|कार्य|भाषा मॉडल|नीति|दिशानिर्देश|दिशा-निर्देश|उपलब्ध|एआई",
    "Spanish": r"tradu[cjz]|traducc|ayud|asist|solicitud|petición|pide|texto|contenido|tarea|material|pasaje|fragmento|modelo de lengua|\bia\b|política|directric"
    r"|normas|pautas|proporcion",
    "Arabic": "ترجم|مساعد|طلب|النص|نص|المحتوى|الفقرة|المقطع|نموذج لغوي|ذكاء|سياس|إرشاد|تقديم|توفير|الإرشادات",
    "French": r"tradui|traduct|aide[rz]?\b|aider|assist|demande|requête|texte|contenu|tâche|passage|extrait|modèle de lang|\bia\b|politique|directive"
    r"|règles|consigne|fourni",
    "Bengali": "অনুবাদ|তর্জমা|সাহায্য|সহায়তা|সহায়তা|অনুরোধ|পাঠ|লেখা|অংশ|কাজ|বিষয়বস্তু|ভাষা মডেল|নীতি|নির্দেশিকা|এআই|টেক্সট|অনুচ্ছেদ",
    "Portuguese": r"tradu[zçc]|ajud|auxili|assist|solicita|pedido|pede|texto|conteúdo|tarefa|passagem|trecho|modelo de lingu|\bia\b|política|diretriz"
    r"|normas|fornec",
    "Russian": r"перев[оеё][дзж]|перевес|помо[гчщ]|запрос|просьб|текст|отрыв|фрагмент|содержан|материал|языков\w+ модел|\bии\b|политик|правил"
    r"|задани|предостав",
    "Urdu": "ترجم|مدد|درخواست|متن|عبارت|مواد|اقتباس|کام|لسانی ماڈل|زبان کا ماڈل|پالیسی|ہدایات|فراہم|اے آئی|معاونت",
    "Indonesian": r"terjemah|menerjemah|membantu|bantu|permintaan|teks|konten|bagian|kutipan|naskah|tugas|model bahasa|\bai\b|kebijakan|pedoman|menyediakan"
    r"|memberikan|memenuhi",
    "German": r"übersetz|übertrag|helf|hilfe|behilflich|unterstütz|anfrage|anliegen|bitte|wunsch|text|passage|abschnitt|inhalt|sprachmodell|\bki\b"
    r"|richtlinie|vorgaben|aufgabe|bereitstell",
    "Japanese": "翻訳|訳す|訳文|お手伝い|手伝|支援|リクエスト|要求|ご依頼|依頼|ご要望|文章|テキスト|内容|言語モデル|ポリシー|方針|ガイドライン|提供",
}
"""Stems of the subjects that a refusal mentions: translation, help, the text, or the rules of the model."""

ABOUT_ITSELF = _pattern(
    r"as an? (?:ai|artificial|(?:large )?language model)|i(?:'m| am) (?:just |only )?an? (?:ai|(?:large )?language model)|als ki\b"
    r"|als (?:ein )?(?:sprachmodell|künstliche)|comme une? (?:ia|intelligence)|en tant qu'(?:ia|assistant|intelligence)|en tant que modèle"
    r"|como (?:una? )?(?:ia|modelo de|inteligencia|inteligência|uma ia|um modelo|asistente|assistente)|как (?:ии|языков|искусств|ассистент)"
    r"|作为(?:一个|一名|一款)?(?:人工智能|ai|语言模型|大语言模型|助手)|作為(?:一個)?(?:人工智慧|ai|語言模型)|एक (?:एआई|ai|भाषा मॉडल)|एआई (?:मॉडल|सहायक)"
    "|بصفتي|كنموذج|باعتباري|একটি (?:এআই|ভাষা মডেল|ai)|ایک (?:اے آئی|لسانی|زبان)|بطور (?:اے آئی|ai)|sebagai (?:model bahasa|ai|asisten|kecerdasan)"
    r"|(?:ai|人工知能|言語モデル)(?:として|ですので|なので)"
)
"""Wordings with which a model introduces itself."""

REQUEST = _pattern(
    r"(?:please|kindly|could you|can you|would you) (?:please )?(?:provide|share|send|paste|supply|give|clarify|specify)"
    r"|(?:bitte|könnten sie|können sie)\b[^.!?]{0,60}\b(?:text|passage|abschnitt)\b|(?:proporcion|compart|envíe|envía|facilit)\w*[^.!?]{0,40}(?:texto|pasaje)"
    r"|(?:forneça|envie|compartilhe)[^.!?]{0,40}(?:texto|trecho)|(?:fournir|fournissez|envoyer|envoyez|partager)[^.!?]{0,40}(?:texte|passage)"
    r"|(?:предоставьте|пришлите|отправьте|укажите)[^.!?]{0,40}(?:текст|отрыв|фрагмент)|请(?:您)?(?:提供|发送|给出|输入)|請(?:您)?提供"
    r"|कृपया[^।!?]{0,60}(?:प्रदान|भेज|दें|साझा)|يرجى (?:تقديم|تزويد|إرسال|إدخال|توفير)|অনুগ্রহ করে[^।!?]{0,60}(?:দিন|পাঠান|প্রদান)"
    r"|براہ کرم[^۔!?]{0,60}(?:فراہم|بھیج|دیں)|(?:mohon|silakan|harap|tolong) (?:\w+ )?(?:berikan|kirim|sertakan|masukkan|sediakan)"
)
"""Wordings with which a model asks for the text, or for explanations."""

TRANSLATION = (
    "translation", "translate", "translating", "translator", "übersetz", "traducci", "traducc", "traduct", "traduzi",
    "tradução", "traduçã", "tradui", "перевод", "перевед", "перевёл", "перевел", "翻译", "翻譯", "译文", "譯文", "翻訳", "訳文",
    "अनुवाद", "অনুবাদ", "ترجم", "terjemah",
)  # fmt: skip
"""Stems of "translation" and "to translate"."""

LABEL = _pattern(
    r"\s*[\W_]*(?:final |english |revised |corrected |my )?(?:translation|translated text|english|output|answer|response|result|rendering"
    r"|passage(?: \d+)?|target(?: text)?|final(?: version)?|version \d+|option \d+|übersetzung|deutsch|ergebnis|antwort|traducción|español"
    r"|respuesta|resultado|traduction|français|réponse|résultat|tradução|português|resposta|перевод|русский|ответ|результат|译文|譯文|翻译"
    r"|翻譯|中文|答案|结果|翻訳|訳|日本語|अनुवाद|हिन्दी|हिंदी|उत्तर|অনুবাদ|বাংলা|উত্তর|الترجمة|ترجمة|العربية|الإجابة|ترجمہ|اردو|جواب|terjemahan"
    r"|bahasa indonesia|jawaban|hasil)(?: \([^()\n]{1,40}\))?[*_\s]*[:：]"
)
"""A text that starts with a label, such as "Translation:"."""

OPENING = _pattern(
    r"[\W_]*(?:sure|certainly|of course|absolutely|gladly|okay|ok|alright|happy to help|great|no problem|my pleasure|natürlich|gerne?"
    r"|selbstverständlich|sicher|bien sûr|volontiers|certainement|d'accord|avec plaisir|claro(?: que sí)?|por supuesto|con gusto|desde luego|com certeza|com prazer"
    r"|конечно|разумеется|хорошо|с удовольствием|当然|當然|好的|没问题|當然可以|当然可以|निश्चित रूप से|ज़रूर|बिल्कुल|अवश्य|অবশ্যই|নিশ্চয়ই|بالتأكيد|بالطبع|طبعا|حسنا|ضرور|یقینا|بالکل"
    r"|tentu(?: saja)?|baik|もちろん(?:です)?|承知(?:いたしました|しました)|はい)[!,.:！，。、।۔،\s—-]+"
    r"(?:here|below|this is|i'll|i will|i can|i've|let me|hier|folgend|voici|voilà|ci-dessous|aquí|a continuación|aqui|segue|a seguir|вот|ниже|以下|这是|這是|下面"
    r"|यहाँ|यहां|नीचे|এখানে|নিচে|إليك|فيما يلي|هذا|هذه|یہ|ذیل|یہاں|berikut|ini|di bawah|こちら)"
    r"|[\W_]*(?:here(?:'s| is| are)|below is|the following is|as requested|hier (?:ist|kommt)|voici|aquí (?:está|tiene|tienes)|aqui está|вот|以下是|这是|這是|यहाँ|यहां|এখানে|إليك|یہ رہا|berikut"
    r"|こちらが)[^\n.!?]{0,60}\b(?:text|passage|english|version|result|answer|request\w*|verse|deutsch\w*|fassung|texte|anglais|texto|inglés|inglês|текст|文本|文字|पाठ|পাঠ|النص|متن|teks)\b"
    r"[^\n.!?]{0,40}[:：\n]"
)
"""A text that starts like a chat reply: "Sure, here …", "Here is the text you requested:"."""

NOTE = _pattern(
    r"(?:^|\n|[.!?。！？।۔”\"'’)\]*_…-]\s*)[\[(*_#>\s-]*(?:(?:translator'?s?|translation|additional|brief|key|cultural|explanatory|editorial|some) )?"
    r"(?:notes?|n\.\s?b\.|p\.\s?s\.|explanation|comment|commentary|footnotes?|remarks?|glossary|terms|terminology|context|alternatively"
    r"|alternative(?: \w+)?|literally|disclaimer|source|summary|anmerkung(?:en)?|hinweise?|erläuterung(?:en)?|fußnoten?|notas?(?: \w+ \w+)?|explicación"
    r"|comentarios?|observaci(?:ón|ones)|note \w+ \w+|remarques?|explications?|commentaires?|observaç(?:ão|ões)|explicação|comentários?"
    r"|примечани[ея](?: \w+)?|пояснени[ея]|комментари[ий]|замечани[ея]|注释?|註釋?|譯?註|译注|说明|說明|备注|備註|解释|補足|備考|注記|टिप्पणी|नोट|व्याख्या|স্পষ্টীকরণ"
    r"|নোট|টীকা|দ্রষ্টব্য|ব্যাখ্যা|ملاحظ(?:ة|ات)(?: \w+)?|شرح|تعليق|توضيح|نوٹ|وضاحت|تشریح|حاشیہ|catatan(?: \w+)?|keterangan|penjelasan|komentar)"
    r"[*_\s]*[:：]"
)
"""A label of notes, such as "Note:", at the start of a line or sentence."""

CLOSING = _pattern(
    r"let me know|hope (?:this|that|it) (?:helps|is|was|meets)|would you like (?:me|a|to)|feel free to|happy to (?:help|provide|adjust|refine|explain)"
    r"|if you(?:'d| would) like|if you (?:need (?:any|more|further|a|me|help)|have any (?:questions|other|further)|want (?:me|a))|do you (?:want|need) me to|want me to (?:translat|continu|adjust|explain|provide|also)|anything else (?:i can|you)|any (?:other|further) questions"
    r"|ich hoffe|lass(?:en sie)? (?:es )?mich wissen|falls (?:du|sie)|wenn (?:du|sie) (?:möchte|weitere|noch)|gerne weiter"
    r"|espero que|si (?:necesita|desea|quiere|tiene)|avís[ae]me|h[aá]gamelo saber|házmelo|n'hésitez|j'espère|si vous (?:avez|souhaitez|voulez|désirez)"
    r"|faites-moi savoir|se (?:precisar|quiser|desejar|tiver)|me avise|надеюсь|дайте знать|если (?:вам|нужн|хотите|у вас|потреб|понадоб)|сообщите"
    r"|希望(?:这|這|对|對|能)|如果(?:您|你)|如(?:有|需)|若(?:您|有|需)|需要我|请告诉|आशा है|उम्मीद है|यदि आप|अगर आप|मुझे बताएँ|मुझे बताएं|आশা করি|আশা করি|যদি আপনি|যদি আপনার|জানাবেন"
    r"|আমাকে জানান|آمل|أتمنى|إذا (?:كنت|احتجت|أردت|كان)|أخبرني|أعلمني|لا تتردد|امید ہے|اگر آپ|مجھے بتائ|semoga|jika (?:anda|ada)|apabila anda|beri tahu"
    r"|(?:^|\s)n\. ?b\.\s|お役に立|ご不明|必要でしたら|お知らせ"
)
"""Closing words of a chat reply. They count only at the end of a text."""

THOUGHT_TAG = _pattern(
    r"</?\W?(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|(?:inner|internal)_?monologue|plan|draft|cot)\b[^<>]{0,40}>"
    r"|[◁◀<]/?think[▷▶>]|\[/?think\]|<\|?(?:channel|begin_of_thought|end_of_thought|start_thinking|end_thinking)\|?>|<\|(?:start|end)\|>"
    r"|(?:^|\n)[*_#\s]*(?:thinking(?: process)?|thoughts?(?: process)?|reasoning|my reasoning|chain of thought|step-by-step(?: \w+)?|analysis|思考过程|思考"
    r"|überlegungen?|gedankengang|razonamiento|raisonnement|réflexion|raciocínio|рассуждения|размышления)[*_]*[:：]"
)
"""A tag or a heading of reasoning."""

THOUGHT = _pattern(
    r"\bthe user(?:'s)? (?:want|ask|is ask|has|need|provid|gave|would|request|said|text|wish|sent)"
    r"|\b(?:i|we) (?:need|have|should|must|want|'ll|am going|are going|was asked|are asked) to (?:\w+ )?(?:translat|produce|output|parse|figure|break)"
    r"|let(?:'s| me| us) (?:translate|break|parse|analy|think (?:about|through|step)|start (?:by|with)|tackle|work through|figure out|look at the)"
    r"|^\W*(?:okay|ok|alright|hmm+|right|well|wait|first|so)\b\W+(?:so\W+)?(?:i|let|the|we|this|first|now)\b[^\n]{0,200}\b(?:translat\w+|passage|user|pali"
    r"|sentence|phrase|text)\b|用户(?:要求|想|希望|让|需要|给|提供|请|发)|用戶|^\W*(?:好的|嗯|首先)[,、，]\s?(?:我|用户|让|这|需要)"
    r"|我(?:需要|应该|得|要|来)(?:先)?(?:翻译|分析)|让我(?:想想|看看|来|先|们)|der (?:nutzer|benutzer|anwender) (?:möchte|will|bittet|hat|fragt)"
    r"|ich (?:muss|soll|sollte|werde) (?:\w+ ){0,6}übersetzen|lass(?:t|en sie)? (?:mich|uns) (?:\w+ )?(?:überlegen|nachdenken|schritt)"
    r"|el usuario (?:quiere|pide|me|desea|solicita|ha)|(?:tengo|necesito|debo) (?:que )?traducir|(?:vamos|voy) a (?:pensar|analizar|traducir)"
    r"|l'utilisateur (?:veut|demande|souhaite|me|a|voudrait)|je dois (?:\w+ )?traduire|(?:réfléchissons|analysons)|o usuário (?:quer|pede|pediu|deseja|solicit)"
    r"|(?:preciso|devo|tenho que) traduzir|пользователь (?:хочет|прос|попрос|дал|предост)|(?:мне )?(?:нужно|надо|следует) перевести"
    r"|давайте? (?:подума|посмотр|разбер|перевед)|उपयोगकर्ता|मुझे (?:\S+ ){0,4}अनुवाद करना|ব্যবহারকারী|আমাকে (?:\S+ ){0,4}অনুবাদ করতে|المستخدم"
    r"|(?:أحتاج|يجب|علي|عليّ) (?:إلى |أن )?(?:ترجم|أترجم)|صارف|مجھے (?:\S+ ){0,4}ترجمہ کرنا|pengguna (?:ingin|meminta|mau|memberi)|saya (?:perlu|harus) menerjemahkan"
    r"|ユーザー|翻訳する必要"
)
"""Reasoning in words: a model talks about its user, its task or its steps."""


def _compiled(stems: dict[str, str]) -> dict[str, Pattern[str]]:
    return {language: _pattern(pattern) for language, pattern in stems.items()}


DENIAL, TASK = _compiled(DENIALS), _compiled(TASKS)
APOLOGY = _pattern(
    r"\bsorry\b|apolog|regret|unfortunately|\bafraid\b|forgive|抱歉|对不起|對不起|不好意思|遗憾|遺憾|क्षमा|माफ़|माफ|खेद|दुर्भाग्य|lo siento|lament|disculp|perdón"
    r"|desafortunad|por desgracia|عذر|آسف|للأسف|المعذرة|désolé|regrett|excus|malheureusement|navré|দুঃখিত|ক্ষমা|মাফ|দুর্ভাগ্য|desculp|infelizmente|sinto muito"
    r"|извин|прост(?:ите|и)|сожален|прошу прощения|معذرت|معاف|افسوس|بدقسمت|maaf|sayang(?:nya| sekali)|menyesal|tut mir leid|entschuldig|leider|bedau[er]|verzeih"
    r"|申し訳|すみません|残念|恐れ入り"
)
"""Apologies and regrets."""
