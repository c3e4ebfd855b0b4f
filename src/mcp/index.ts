/** Tools of assistants over the Model Context Protocol. */
export { answerMcp } from './http.ts'
export { MAX_PROOF_MS } from './proof-schema.ts'
export type { ProofRequest, Proved } from './proof-schema.ts'
export { serveStdio } from './stdio.ts'
