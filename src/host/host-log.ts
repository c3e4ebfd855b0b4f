/** Keeps one log for services, before and after they are mounted on a server. */
import type { Logger } from '#kernel'

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

/** Hides secrets and filters by level, as the server's log; holds entries until the server exists. */
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
