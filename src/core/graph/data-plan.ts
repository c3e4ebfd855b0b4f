/** Which sensors a message runs, by the values that it has. */
import { messageValue } from '../task/message-value.ts'
import type { DataPlan, Plan, SensorNode } from './graph.ts'
import { makePlan } from './plan.ts'

/** Parts that are remembered of one plan; a resource whose messages have very many different values makes some anew. */
const MAX_PARTS = 256

/** What messages for one resource run. */
export function makeDataPlan(sensors: readonly SensorNode[]): DataPlan {
  const plan = makePlan(sensors)
  return plan.sensors.every(({ parameters }) => parameters === undefined)
    ? { ...plan, partFor: () => plan }
    : new PartedPlan(plan)
}

/** A plan of sensors of which some wait for values of their own. */
class PartedPlan implements DataPlan {
  readonly sensors: Plan['sensors']
  readonly reset: Plan['reset']
  readonly resetGates: Plan['resetGates']
  /** the distinct lists of names that its sensors wait for */
  readonly #lists: readonly (readonly string[])[]
  /** by the lists of which a message has nothing, one character each: their places */
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
