import type { ScriptMessage } from './script.ts'

const VALID_MS = 60_000

/** Stores the values of the last minute's messages. */
export class StreamMemory {
  readonly #messages: { time: number; message: ScriptMessage }[] = []

  remember(message: ScriptMessage, time: number): void {
    this.#messages.push({ time, message })
  }

  /**
   * Returns the values that an execution sees: from its own resource's messages, otherwise from those of the triggering
   * message's resource. The triggering message always counts, and takes precedence.
   */
  seenBy(resource: string | undefined, origin: ScriptMessage | undefined, now: number): Record<string, unknown> {
    const own = this.#recent(resource, now)
    if (own.length > 0 || resource === origin?.resource) return merged(own, origin?.resource === resource && origin)
    return merged(this.#recent(origin?.resource, now), origin)
  }

  /** Returns the triggering message's own values, if it matches the resource or no resource is given. */
  newsFor(resource: string | undefined, origin: ScriptMessage | undefined): Record<string, unknown> {
    return origin === undefined || (resource !== undefined && resource !== origin.resource) ? {} : origin
  }

  #recent(resource: string | undefined, now: number): ScriptMessage[] {
    const kept = this.#messages.filter(({ message, time }) => message.resource === resource && now - time < VALID_MS)
    return kept.map(({ message }) => message)
  }
}

function merged(recent: readonly ScriptMessage[], origin: ScriptMessage | undefined | false): Record<string, unknown> {
  return Object.fromEntries([...recent, origin || {}].flatMap((message) => Object.entries(message)))
}
