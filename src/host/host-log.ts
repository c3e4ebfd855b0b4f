/** Keeps one log for services, before and after they are mounted on a server. */
import type { Logger } from '#kernel'

/** The part of the server's pino log that services use. */
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
 * Forwards log entries from services to their server's log, which hides secrets and filters by level. Entries are held
 * until the server exists.
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
