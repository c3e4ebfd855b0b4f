import type { ScriptMessage } from './script.ts'

const VALID_MS = 60_000

/** The values that messages of the last minute left behind. */
export class StreamMemory {
  readonly #messages: { time: number; message: ScriptMessage }[] = []

  remember(message: ScriptMessage, time: number): void {
    this.#messages.push({ time, message })
  }

  /** What an execution sees: its own resource's values first of all, else those of the message that led to it. */
  seenBy(resource: string | undefined, origin: ScriptMessage | undefined, now: number): Record<string, unknown> {
    if (resource === undefined) return { ...origin }
    const recent = this.#messages.filter((kept) => kept.message.resource === resource && now - kept.time < VALID_MS)
    const values = Object.fromEntries(recent.flatMap((kept) => Object.entries(kept.message)))
    if (origin?.resource === resource) return { ...values, ...origin }
    return recent.length > 0 ? values : { ...origin }
  }
}
