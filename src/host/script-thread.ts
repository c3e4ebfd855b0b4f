/** The entry of a thread that runs scripts: one after the other, in an interpreter of its own. */
import { parentPort, workerData } from 'node:worker_threads'
import { LocalInterpreter } from '../core/script/sandbox.ts'
import { AppError, messageOf, type ErrorCode } from '../kernel/errors.ts'

/** What a thread is started with. */
export interface ScriptThreadData {
  readonly onlyCounted: boolean
}

export interface ScriptRequest {
  readonly code: string
  readonly input: string
}

/** What a thread says: once `ready`, then an answer or a failure for each request. */
export type ScriptAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: string }
  | { readonly kind: 'failure'; readonly code: ErrorCode; readonly message: string }

const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')
const say = (said: ScriptAnswer): void => port.postMessage(said)
const { onlyCounted } = workerData as ScriptThreadData
const interpreter = new LocalInterpreter(onlyCounted ? undefined : () => performance.now())

async function run({ code, input }: ScriptRequest): Promise<ScriptAnswer> {
  try {
    return { kind: 'answer', answer: await interpreter.answer(code, input) }
  } catch (error) {
    return { kind: 'failure', code: error instanceof AppError ? error.code : 'INTERNAL', message: messageOf(error) }
  }
}

port.on('message', (request: ScriptRequest) => void run(request).then(say))
say({ kind: 'ready' })
