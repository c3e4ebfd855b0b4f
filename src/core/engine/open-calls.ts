/** The calls of one task whose plugs have not answered yet: what aborts them, and who waits for them. */
import type { Execution } from '../task/state.ts'

interface OpenCall {
  abort: AbortController | undefined
  /** tells the engine that nobody waits for this call any more */
  close: (() => void) | undefined
}

export class OpenCalls {
  /** made with the first call that is not answered at once: most tasks never have one */
  #calls: Map<Execution, OpenCall> | undefined

  /** The plug answers later. Gives what ends this very call; another call of the same execution stays open. */
  opened(execution: Execution, close: () => void): () => void {
    const call = this.#call(execution)
    call.close = close
    return () => {
      if (this.#calls?.get(execution) === call) this.end(execution)
    }
  }

  signalOf(execution: Execution): AbortSignal {
    const call = this.#call(execution)
    call.abort ??= new AbortController()
    return call.abort.signal
  }

  /** The plug has answered. */
  end(execution: Execution): void {
    const call = this.#calls?.get(execution)
    if (call === undefined) return
    this.#calls?.delete(execution)
    call.close?.()
  }

  /** Nobody wants the answer any more. */
  abort(execution: Execution): void {
    this.#calls?.get(execution)?.abort?.abort()
    this.end(execution)
  }

  abortAll(): void {
    for (const execution of this.#calls?.keys() ?? []) this.abort(execution)
  }

  #call(execution: Execution): OpenCall {
    this.#calls ??= new Map()
    let call = this.#calls.get(execution)
    if (call === undefined) this.#calls.set(execution, (call = { abort: undefined, close: undefined }))
    return call
  }
}
