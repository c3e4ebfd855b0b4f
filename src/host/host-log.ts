/** Where services log while they are mounted on a server. */
import type { Logger } from '#kernel'

/** What a server's log takes, as far as services use it; pino's form. */
export interface LogTarget {
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

interface Line {
  readonly level: 'warn' | 'error'
  readonly message: string
  readonly details: object
}

const MAX_KEPT = 100

/**
 * What services log, into the log of the server that they are mounted on: it hides secrets and has the level. Services
 * are made before there is a server; what they say until then is kept, and told when there is one.
 */
export class HostLog implements Logger {
  #target: LogTarget | undefined
  readonly #kept: Line[] = []

  warn(message: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#write({ level: 'warn', message, details })
  }

  error(message: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#write({ level: 'error', message, details })
  }

  goTo(target: LogTarget): void {
    this.#target = target
    for (const line of this.#kept.splice(0)) this.#write(line)
  }

  #write(line: Line): void {
    if (this.#target !== undefined) this.#target[line.level](line.details, line.message)
    else if (this.#kept.length < MAX_KEPT) this.#kept.push(line)
  }
}
