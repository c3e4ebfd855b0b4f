/** The worker's half of a thread: opens what it works on, then answers requests one by one, in the order they came. */
import { parentPort, workerData } from 'node:worker_threads'
import { failureOf, type Failure } from './failure.ts'

/** What a worker says: once `ready` or `refused`, then an answer or a failure for each request. */
export type Said<Answer> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failure'; readonly failure: Failure }
  /** of work that nobody asked for */
  | { readonly kind: 'trouble'; readonly message: string }

export type Asked<Request> = { readonly kind: 'request'; readonly request: Request } | { readonly kind: 'close' }

export interface Served<Request, Answer> {
  handle(request: Request): Answer
  /** buffers that are handed over with an answer instead of copied */
  transfer?(answer: Answer): readonly ArrayBuffer[]
  close(): void
}

/** `open` gets what its thread was started with, and a way to tell of trouble that is no answer's. */
export function serveThread<Request, Answer>(
  open: (data: unknown, trouble: (message: string) => void) => Served<Request, Answer>,
): void {
  const port = parentPort
  if (port === null) throw new Error('this file is the entry of a worker thread')
  const say = (said: Said<Answer>, transfer: readonly ArrayBuffer[] = []): void => port.postMessage(said, transfer)
  let served: Served<Request, Answer>
  try {
    served = open(workerData, (message) => say({ kind: 'trouble', message }))
  } catch (error) {
    say({ kind: 'refused', failure: failureOf(error) })
    port.close()
    return
  }
  port.on('message', (asked: Asked<Request>) => {
    if (asked.kind === 'close') {
      port.close()
      served.close()
      return
    }
    try {
      const answer = served.handle(asked.request)
      say({ kind: 'answer', answer }, served.transfer?.(answer))
    } catch (error) {
      say({ kind: 'failure', failure: failureOf(error) })
    }
  })
  say({ kind: 'ready' })
}
