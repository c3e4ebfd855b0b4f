/** Creates the log of a request only when something is logged. */
import type { FastifyBaseLogger } from 'fastify'

type Bindings = Parameters<FastifyBaseLogger['child']>[0]
type ChildOptions = Parameters<FastifyBaseLogger['child']>[1]
type Method = (this: RequestLog, ...parts: unknown[]) => void

const METHODS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Created on first use: it costs more than the rest of the framework's work. */
class RequestLog {
  static {
    for (const name of METHODS) {
      const method: Method = function (...parts) {
        const log = this.#child()
        Reflect.apply(log[name], log, parts)
      }
      Object.defineProperty(RequestLog.prototype, name, { value: method })
    }
  }

  readonly #parent: FastifyBaseLogger
  readonly #bindings: Bindings
  readonly #options: ChildOptions
  #made: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, bindings: Bindings, options: ChildOptions) {
    this.#parent = parent
    this.#bindings = bindings
    this.#options = options
  }

  get level(): string {
    return (this.#made ?? this.#parent).level
  }

  child(bindings: Bindings, options?: ChildOptions): FastifyBaseLogger {
    return this.#child().child(bindings, options)
  }

  #child(): FastifyBaseLogger {
    this.#made ??= this.#parent.child(this.#bindings, this.#options)
    return this.#made
  }
}

/** Creates a request's log; for the server option `childLoggerFactory`. */
export function requestLog(parent: FastifyBaseLogger, bindings: Bindings, options: ChildOptions): FastifyBaseLogger {
  return new RequestLog(parent, bindings, options) as unknown as FastifyBaseLogger
}
