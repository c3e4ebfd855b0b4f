/** Alarms as they would be raised and cleared, from the calls of the plugs of alarms that are not made. */
import { resourceOf, type Plug, type PlugContext } from '#core'
import { ownValue } from '#kernel'
import type { RehearsedEffect } from './rehearsal-schema.ts'

export class VirtualAlarms {
  raised = 0
  cleared = 0
  /** open alarms: source and type by key */
  readonly #open = new Map<string, string>()

  /** Effect on the alarms of a call; undefined for plugs of other things. */
  note({ name }: Plug, context: PlugContext): RehearsedEffect['alarm'] {
    if (name !== 'createAlarm' && name !== 'clearAlarm') return undefined
    const { type, properties } = context.properties
    const alarm = `${resourceOf(context)}\n${String(type)}`
    if (name === 'createAlarm') {
      const dedupKey = ownValue(properties, 'dedupKey')
      const key = typeof dedupKey === 'string' ? `key\n${dedupKey}` : alarm
      if (this.#open.has(key)) return 'repeated'
      this.#open.set(key, alarm)
      this.raised++
      return 'raised'
    }
    const found = [...this.#open].filter(([, open]) => open === alarm)
    for (const [key] of found) this.#open.delete(key)
    this.cleared += found.length
    return found.length > 0 ? 'cleared' : undefined
  }

  /** Forgets open alarms; the counts stay. */
  begin(): void {
    this.#open.clear()
  }
}
