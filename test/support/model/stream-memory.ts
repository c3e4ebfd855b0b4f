import type { ScriptMessage } from './script.ts'

const VALID_MS = 60_000

/** The values that messages of the last minute left behind. */
export class StreamMemory {
  readonly #messages: { time: number; message: ScriptMessage }[] = []

  remember(message: ScriptMessage, time: number): void {
    this.#messages.push({ time, message })
  }

  /**
   * What an execution sees: what is left of its own resource's messages, else of those of the resource whose message
   * led to it. The message that led to it always counts there, and before the others.
   */
  seenBy(resource: string | undefined, origin: ScriptMessage | undefined, now: number): Record<string, unknown> {
    const own = this.#recent(resource, now)
    if (own.length > 0 || resource === origin?.resource) return merged(own, origin?.resource === resource && origin)
    return merged(this.#recent(origin?.resource, now), origin)
  }

  /** What the message that led to it has itself, when that is for its resource or it has none. */
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
