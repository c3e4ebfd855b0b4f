/**
 * Groups alarms that belong together, one after the other, in bounded memory: first by rule, then by the resource tree,
 * then by time.
 */
export interface GroupedAlarm {
  readonly id: string
  /** epoch ms */
  readonly time: number
  readonly source: string
  /** resources above the source, nearest first */
  readonly ancestors: readonly string[]
  /** the rule that raised it, under any name; undefined: not a rule */
  readonly rule: string | undefined
}

export type GroupedBy = 'rule' | 'tree' | 'time'

interface Grouped {
  /** id of the first alarm of the group */
  readonly group: string
  /** why the alarm belongs to the group; undefined: it is the first */
  readonly by: GroupedBy | undefined
}

const NEAR_MS = 300_000
const AT_ONCE_MS = 10_000
const MAX_KEYS = 10_000

interface Last {
  readonly group: string
  readonly time: number
}

export class AlarmGroups {
  readonly #byRule = new Recent()
  /** by the source of an alarm, and by the resources above it */
  readonly #bySource = new Recent()
  readonly #byAncestor = new Recent()
  #last: Last | undefined

  /** Times must not descend. */
  add({ id, time, source, ancestors, rule }: GroupedAlarm): Grouped {
    const ofRule = rule === undefined ? undefined : this.#byRule.near(rule, time)
    const ofTree = ofRule ?? this.#related(source, ancestors, time)
    const ofTime = ofTree ?? (this.#last && time - this.#last.time <= AT_ONCE_MS ? this.#last.group : undefined)
    const group = ofTime ?? id
    const by = ofRule !== undefined ? 'rule' : ofTree !== undefined ? 'tree' : ofTime !== undefined ? 'time' : undefined
    const last = { group, time }
    this.#last = last
    if (rule !== undefined) this.#byRule.set(rule, last)
    this.#bySource.set(source, last)
    for (const resource of ancestors) this.#byAncestor.set(resource, last)
    return { group, by }
  }

  /** Alarms are related if the source of one is the source of the other, or above it. */
  #related(source: string, ancestors: readonly string[], time: number): string | undefined {
    for (const resource of [source, ...ancestors]) {
      const group = this.#bySource.near(resource, time)
      if (group !== undefined) return group
    }
    return this.#byAncestor.near(source, time)
  }
}

/** The last group by key; the oldest keys give way. */
class Recent {
  readonly #last = new Map<string, Last>()

  near(key: string, time: number): string | undefined {
    const last = this.#last.get(key)
    return last !== undefined && time - last.time <= NEAR_MS ? last.group : undefined
  }

  set(key: string, last: Last): void {
    this.#last.delete(key)
    this.#last.set(key, last)
    if (this.#last.size <= MAX_KEYS) return
    const [oldest] = this.#last.keys()
    if (oldest !== undefined) this.#last.delete(oldest)
  }
}
