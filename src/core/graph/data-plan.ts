/** Selects the sensors that a message runs, by the values in that message. */
import { messageValue } from '../task/message-value.ts'
import type { DataPlan, Plan, SensorNode } from './graph.ts'
import { makePlan } from './plan.ts'

const MAX_PARTS = 256

export function makeDataPlan(sensors: readonly SensorNode[]): DataPlan {
  const plan = makePlan(sensors)
  return plan.sensors.every(({ parameters }) => parameters === undefined)
    ? { ...plan, partFor: () => plan }
    : new PartedPlan(plan)
}

class PartedPlan implements DataPlan {
  readonly sensors: Plan['sensors']
  readonly reset: Plan['reset']
  readonly resetGates: Plan['resetGates']
  /** distinct lists of names that the plan's sensors need */
  readonly #lists: readonly (readonly string[])[]
  /** cached parts by the indexes of the missing lists, one character each */
  readonly #parts = new Map<string, Plan>()

  constructor({ sensors, reset, resetGates }: Plan) {
    this.sensors = sensors
    this.reset = reset
    this.resetGates = resetGates
    const lists = sensors.map(({ parameters }) => parameters).filter((names) => names !== undefined)
    this.#lists = [...new Map(lists.map((names) => [JSON.stringify(names), names])).values()]
  }

  partFor(message: Readonly<Record<string, unknown>>): Plan {
    let missing = ''
    for (let i = 0; i < this.#lists.length; i++) {
      if (!hasOneOf(message, this.#lists[i])) missing += String.fromCharCode(i)
    }
    return missing === '' ? this : (this.#parts.get(missing) ?? this.#part(missing, message))
  }

  #part(missing: string, message: Readonly<Record<string, unknown>>): Plan {
    const part = makePlan(
      this.sensors.filter(({ parameters }) => parameters === undefined || hasOneOf(message, parameters)),
    )
    const [oldest] = this.#parts.size >= MAX_PARTS ? this.#parts.keys() : []
    if (oldest !== undefined) this.#parts.delete(oldest)
    this.#parts.set(missing, part)
    return part
  }
}

function hasOneOf(message: Readonly<Record<string, unknown>>, names: readonly string[] = []): boolean {
  for (const name of names) if (messageValue(message, name) !== undefined) return true
  return false
}
