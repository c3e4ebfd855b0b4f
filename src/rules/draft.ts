/** Collects the nodes of a rule; equal nodes become one. */
import type { Actuator, Relation, Rule, Sensor, Trigger } from '#core'

/** Where values come from: a resource, or each member of a group. */
export type Origin = Pick<Sensor, 'resource' | 'group'>

/** An expression, with where its values come from and which nodes it reads. */
export interface Written {
  readonly code: string
  readonly origins: readonly Origin[]
  readonly nodes: readonly string[]
  /** what replaces values that are missing */
  readonly missing?: readonly Missing[]
}

/** What a sensor over these values does when one is missing. */
export type Missing = Pick<Sensor, 'hold' | 'default'>

/** A node in a state. */
export interface Place {
  readonly label: string
  readonly state: string
}

export class Draft {
  readonly #sensors: Sensor[] = []
  readonly #relations: Relation[] = []
  readonly #actuators: Actuator[] = []
  readonly #triggers: Trigger[] = []
  readonly #labels = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** Adds a sensor over these values unless an equal one exists. Returns its label. */
  sensor(hint: string, sensor: Omit<Sensor, 'label'>, over: Omit<Written, 'code'>): string {
    const [origin = {}, ...others] = distinct(over.origins)
    // values of several resources do not meet in one message: the nodes that keep them run it
    const isJoint = others.length > 0
    const placed = { ...sensor, ...(isJoint ? {} : origin), ...joined(over.missing) }
    return this.#once(['sensor', placed, isJoint && over.nodes], hint, (label) => {
      this.#sensors.push({ label, ...placed })
      if (isJoint) for (const sourceLabel of over.nodes) this.trigger({ sourceLabel, destinationLabel: label })
    })
  }

  relation(hint: string, relation: Omit<Relation, 'label'>): string {
    return this.#once(['relation', relation], hint, (label) => this.#relations.push({ label, ...relation }))
  }

  actuator(hint: string, actuator: Omit<Actuator, 'label'>): string {
    return this.#once(['actuator', actuator], hint, (label) => this.#actuators.push({ label, ...actuator }))
  }

  trigger(trigger: Trigger): void {
    this.#triggers.push(trigger)
  }

  toRule(): Rule {
    return {
      sensors: this.#sensors,
      ...(this.#relations.length > 0 && { relations: this.#relations }),
      ...(this.#actuators.length > 0 && { actuators: this.#actuators }),
      ...(this.#triggers.length > 0 && { triggers: this.#triggers }),
    }
  }

  #once(content: unknown, hint: string, add: (label: string) => void): string {
    const key = JSON.stringify(content)
    const known = this.#labels.get(key)
    if (known !== undefined) return known
    const label = this.#free(hint)
    this.#labels.set(key, label)
    add(label)
    return label
  }

  #free(hint: string): string {
    const base =
      hint
        .replaceAll(/[^A-Za-z0-9]+/g, '_')
        .replaceAll(/^_+|_+$/g, '')
        .slice(0, 60) || 'node'
    let label = base
    for (let i = 2; this.#taken.has(label); i++) label = `${base}_${i}`
    this.#taken.add(label)
    return label
  }
}

/** Throws when one value has two durations or two defaults. */
function joined(all: readonly Missing[] = []): Missing {
  const both: { hold?: Record<string, string>; default?: Record<string, unknown> } = {}
  for (const one of all)
    for (const field of ['hold', 'default'] as const)
      for (const [name, value] of Object.entries(one[field] ?? {})) {
        const known: Record<string, unknown> = (both[field] ??= {})
        if (Object.hasOwn(known, name) && known[name] !== value)
          throw new TypeError(
            `${field} of ${name} is ${String(known[name])} and ${String(value)} in one condition; write one of them`,
          )
        known[name] = value
      }
  return both
}

function distinct(origins: readonly Origin[]): readonly Origin[] {
  return [...new Map(origins.map((one) => [JSON.stringify(one), one])).values()]
}
