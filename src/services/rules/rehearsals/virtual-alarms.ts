/** Tracks which alarms a rehearsed rule would raise and clear, from the calls of alarm plugs that are left out. */
import { resourceOf, type Plug, type PlugContext } from '#core'
import { ownValue } from '#kernel'
import { type Occurrence, SEVERITIES } from '#services/alarms/contract'
import type { RehearsedEffect } from './rehearsal-schema.ts'

/** most alarms of a rehearsal of which figures are computed */
export const MAX_OCCURRENCES = 100_000

export class VirtualAlarms {
  /** raised alarms with their times, at most `MAX_OCCURRENCES` */
  readonly occurrences: Occurrence[] = []
  raised = 0
  cleared = 0
  /** open alarms by key, each with its source and type */
  readonly #open = new Map<string, string>()

  note({ name }: Plug, context: PlugContext): RehearsedEffect['alarm'] {
    if (name !== 'createAlarm' && name !== 'clearAlarm') return undefined
    const { type, properties, severity } = context.properties
    const alarm = `${resourceOf(context)}\n${String(type)}`
    if (name === 'createAlarm') {
      const dedupKey = ownValue(properties, 'dedupKey')
      const key = typeof dedupKey === 'string' ? `key\n${dedupKey}` : alarm
      if (this.#open.has(key)) return 'repeated'
      this.#open.set(key, alarm)
      this.raised++
      if (this.occurrences.length < MAX_OCCURRENCES) {
        const known = SEVERITIES.find((one) => one === severity) ?? 'MINOR'
        const about = { source: resourceOf(context) ?? '', type: String(type), severity: known }
        this.occurrences.push({ time: context.now, ...about, isHeld: false })
      }
      return 'raised'
    }
    const found = [...this.#open].filter(([, open]) => open === alarm)
    for (const [key] of found) this.#open.delete(key)
    this.cleared += found.length
    return found.length > 0 ? 'cleared' : undefined
  }

  begin(): void {
    this.#open.clear()
  }
}
