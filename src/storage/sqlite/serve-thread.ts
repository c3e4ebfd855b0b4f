/** Worker side of a thread: opens its resource, then handles requests in order. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { storeFailureOf, type StoreFailure } from './failure.ts'

/** Messages of a worker: first `ready` or `refused`, then a result or a failure for each request. */
export type ThreadAnswer<Answer> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly failure: StoreFailure }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] }
  | { readonly kind: 'failure'; readonly failure: StoreFailure }
  | { readonly kind: 'trouble'; readonly failure: StoreFailure }

export type ThreadRequest<Request> =
  { readonly kind: 'request'; readonly request: Request } | { readonly kind: 'close' }

export interface Served<Request, Answer> {
  handle(request: Request): Answer
  /** Handles waiting requests together when that is cheaper. Returns one result per request. */
  handleAll?(requests: readonly Request[]): readonly Answer[]
  /** returns the buffers of a result that are transferred rather than copied */
  transfer?(answer: Answer): readonly ArrayBuffer[]
  close(): void
}

export type Trouble = (what: string, thrown: unknown) => void

/** Serves a thread. `open` receives the data of the thread, and a function that reports background failures. */
export function serveThread<Request, Answer>(open: (data: unknown, trouble: Trouble) => Served<Request, Answer>): void {
  const port = parentPort
  if (port === null) throw new Error('this file is the entry of a worker thread')
  const post = (message: ThreadAnswer<Answer>, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, transfer)
  let served: Served<Request, Answer>
  try {
    served = open(workerData, (what, thrown) => {
      const { message, ...failure } = storeFailureOf(thrown)
      post({ kind: 'trouble', failure: { ...failure, message: `${what}: ${message}` } })
    })
  } catch (error) {
    post({ kind: 'refused', failure: storeFailureOf(error) })
    port.close()
    return
  }
  const close = (): void => {
    port.close()
    served.close()
  }
  const answer = (request: Request): void => {
    try {
      const result = served.handle(request)
      post({ kind: 'answer', answer: result }, served.transfer?.(result))
    } catch (error) {
      post({ kind: 'failure', failure: storeFailureOf(error) })
    }
  }
  const answerAll = (requests: readonly Request[]): void => {
    const [only] = requests
    if (served.handleAll === undefined || requests.length < 2) {
      if (only !== undefined) answer(only)
      return
    }
    try {
      post({ kind: 'answers', answers: served.handleAll(requests) })
    } catch (error) {
      for (const _request of requests) post({ kind: 'failure', failure: storeFailureOf(error) })
    }
  }
  /** Returns the next waiting request; undefined when requests must be handled one by one. */
  const next = (): ThreadRequest<Request> | undefined => {
    if (served.handleAll === undefined) return undefined
    return receiveMessageOnPort(port)?.message as ThreadRequest<Request> | undefined
  }
  port.on('message', (first: ThreadRequest<Request>) => {
    const requests: Request[] = []
    for (let received: ThreadRequest<Request> | undefined = first; received !== undefined; received = next()) {
      if (received.kind === 'close') {
        answerAll(requests)
        return close()
      }
      requests.push(received.request)
    }
    answerAll(requests)
  })
  post({ kind: 'ready' })
}
