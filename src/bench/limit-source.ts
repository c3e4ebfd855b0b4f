/**
 * Generates the loop that a programmer would write for one rule and exactly these messages, as a reference that is not
 * tuned by hand; unsupported rules yield a reason.
 *
 * LIMIT-1 where messages may lack a value, the loop keeps the task's last one, as sensors keep their states; where
 *   values are always present it has no code for that
 * LIMIT-2 an actuator acts at most once per message: by the first of its triggers whose cool-down has passed
 */
import {
  type ActuatorNode,
  ANY,
  FALSE,
  type GateNode,
  type Graph,
  isUnconditional,
  type ObservableNode,
  type RuleProperties,
  type SensorNode,
  type SharedSettings,
  type TriggerEdge,
  TRUE,
  UNKNOWN,
} from '#core/spi'
import { conditionSource } from './condition-source.ts'
import type { MessageFacts } from './message-facts.ts'

/** Source of one rule. `own` is its record, `act(slot)` calls an actuator, `now()` returns the time. */
export interface LimitSource {
  /** code that reads the values of `message`; `at` keeps values that later messages may lack */
  readonly read: string
  /** the remaining code, with numbers of the rule as `own.c0`, `own.c1` ... */
  readonly follow: string
  readonly constants: readonly number[]
  readonly memory: readonly (readonly [name: string, first: number])[]
  readonly kept: readonly string[]
  /** of a rule without memory; the first tests whether a value exceeds a number of the rule */
  readonly conjunction: readonly string[] | undefined
}

export interface NoLimit {
  readonly reason: string
}

export type LimitSettings = Pick<SharedSettings, 'type' | 'resetObservations' | 'gatesNeedFullObservation'>

export function limitSource(rule: LimitRule, facts: MessageFacts): LimitSource | NoLimit {
  try {
    return new LimitWriter(rule, facts).write()
  } catch (error) {
    if (error instanceof Refused) return { reason: error.message }
    throw error
  }
}

export interface LimitRule {
  readonly graph: Graph
  readonly properties: RuleProperties
  readonly settings: LimitSettings
}

class Refused extends Error {}

interface Written {
  isIn(states: readonly number[]): string
  isNotIn(states: readonly number[]): string
  readonly isKnown: boolean
}

/** A condition that is undefined always holds. */
interface WrittenTrigger {
  readonly before: readonly string[]
  readonly holds: string | undefined
  readonly fired: readonly string[]
  readonly after: readonly string[]
}

class LimitWriter {
  readonly #graph: Graph
  readonly #properties: RuleProperties
  readonly #settings: LimitSettings
  readonly #facts: MessageFacts
  readonly #parameters: string[] = []
  readonly #constants: number[] = []
  readonly #memory: (readonly [string, number])[] = []
  readonly #written = new Map<ObservableNode, Written>()
  readonly #reads = new Map<SensorNode, readonly string[]>()

  constructor({ graph, properties, settings }: LimitRule, facts: MessageFacts) {
    this.#graph = graph
    this.#properties = properties
    this.#settings = settings
    this.#facts = facts
  }

  write(): LimitSource {
    const { sensors, gates, triggers, actuators, resources } = this.#graph
    this.#check(resources.length)
    for (const sensor of sensors) this.#written.set(sensor, this.#sensor(sensor))
    const lines: string[] = []
    for (const gate of gates) this.#written.set(gate, this.#gate(gate, lines))
    const coolDowns = new Set(triggers.filter(({ policyMs }) => policyMs > 0).map(({ destination }) => destination))
    for (const { slot } of actuators.filter((one) => coolDowns.has(one))) this.#memory.push([`f${slot}`, -Infinity])
    const firing = actuators.map((actuator) => this.#actuator(actuator, coolDowns.has(actuator)))
    const isStateless = this.#memory.length === 0 && triggers.length === 1
    return {
      read: this.#parameters.map((name, i) => this.#read(name, i)).join('\n'),
      follow: [...lines, ...firing].join('\n'),
      constants: this.#constants,
      memory: this.#memory,
      kept: this.#parameters.flatMap((name, i) => (this.#facts.of(name).always ? [] : [`v${i}`])),
      conjunction: isStateless ? this.#conjunction(triggers[0] as TriggerEdge) : undefined,
    }
  }

  #check(resources: number): void {
    const { type } = this.#settings
    if (type !== 'reactive') throw new Refused(`a task of type ${type} has its own clock`)
    if (resources > 1) throw new Refused('its nodes are about several resources')
    for (const { label, destination } of this.#graph.triggers.map((one) => ({
      label: one.source.label,
      destination: one.destination,
    }))) {
      if (destination.kind === 'sensor') throw new Refused(`${label} runs the sensor ${destination.label}`)
    }
  }

  #read(name: string, i: number): string {
    const { always, kind } = this.#facts.of(name)
    const value = `message[${JSON.stringify(name)}]`
    const lines = [`let v${i} = ${value}`]
    if (kind === 'holes') lines.push(`if (v${i} === null) v${i} = NaN`)
    if (!always) lines.push(`if (v${i} === undefined) v${i} = at.v${i}`, `else at.v${i} = v${i}`)
    return lines.join('\n')
  }

  #slotOf(name: string): string {
    const known = this.#parameters.indexOf(name)
    return `v${known === -1 ? this.#parameters.push(name) - 1 : known}`
  }

  #sensor(sensor: SensorNode): Written {
    const { label, call, evictionTime, pollingPeriod, schedule, channel, onData } = sensor
    const isPlain = call.needs === undefined && call.loop === undefined && call.pauseMs === undefined
    if (
      !onData ||
      channel !== undefined ||
      !isPlain ||
      (pollingPeriod ?? schedule) !== undefined ||
      Number.isFinite(evictionTime)
    ) {
      throw new Refused(`the sensor ${label} does more than compare each message`)
    }
    const { constant } = this.#properties.peek(call)
    const steps = constant && call.plug.steps?.(constant)
    if (steps !== undefined) return this.#steps(sensor, steps)
    const { plug } = call
    const condition = plug.name === 'condition' ? conditionSource(constant?.['condition']) : undefined
    if (condition === undefined)
      throw new Refused(`the sensor ${label} is a ${plug.name}, which is more than a comparison`)
    return this.#condition(sensor, condition.source, condition.parameters)
  }

  #steps(
    sensor: SensorNode,
    { parameter, cuts, states }: { parameter: string; cuts: readonly number[]; states: readonly string[] },
  ): Written {
    const { always, kind } = this.#facts.of(parameter)
    if (kind === 'other') throw new Refused(`${parameter}, which ${sensor.label} compares, is not always a number`)
    if (kind === 'holes' && !this.#settings.resetObservations) {
      throw new Refused(`${sensor.label} keeps its state where ${parameter} is not a number`)
    }
    this.#reads.set(sensor, [parameter])
    const value = this.#slotOf(parameter)
    const first = this.#constants.length
    this.#constants.push(...cuts)
    const place = (cut: number) => `own.c${first + cut}`
    const ranges = (isWanted: (state: number) => boolean) =>
      rangesSource(
        value,
        states.map((state) => isWanted(sensor.states.indexOf(state))),
        place,
      )
    return {
      isKnown: always && kind !== 'holes',
      isIn: (wanted) => ranges((state) => wanted.includes(state)),
      isNotIn: (wanted) => ranges((state) => !wanted.includes(state)),
    }
  }

  #condition(sensor: SensorNode, source: string, parameters: readonly string[]): Written {
    if (parameters.length === 0) throw new Refused(`the condition of ${sensor.label} reads nothing of the message`)
    const facts = parameters.map((name) => this.#facts.of(name))
    if (facts.some(({ kind }) => kind === 'holes')) throw new Refused(`${sensor.label} reads values that may be null`)
    this.#reads.set(sensor, parameters)
    const isKnown = facts.every(({ always }) => always)
    const code = source.replaceAll(/\$(\d+)/g, (_, i: string) => this.#slotOf(parameters[Number(i)] ?? ''))
    const known = parameters
      .filter((_, i) => facts[i]?.always === false)
      .map((name) => `${this.#slotOf(name)} !== undefined`)
    const holds = (states: readonly number[]) => {
      const [yes, no] = ['True', 'False'].map((state) => states.includes(sensor.states.indexOf(state)))
      if (yes === no) return yes === true ? known.join(' && ') || 'true' : 'false'
      return [...known, yes === true ? code : `!${code}`].join(' && ')
    }
    const others = (states: readonly number[]) => sensor.states.map((_, i) => i).filter((i) => !states.includes(i))
    return { isKnown, isIn: holds, isNotIn: (states) => holds(others(states)) }
  }

  #gate(gate: GateNode, lines: string[]): Written {
    const { type, parents, slot } = gate
    const inputs = gate.inputs.map((input, i) => ({
      node: this.#of(parents[i] as ObservableNode),
      wanted: [input.wanted],
    }))
    const isKnown = parents.every((parent) => this.#of(parent).isKnown)
    if (!isKnown && this.#settings.gatesNeedFullObservation)
      throw new Refused(`${gate.label} waits for all its parents`)
    if (type === 'COUNT' || type === 'SHARE') throw new Refused(`${gate.label} counts its parents`)
    if (!isKnown && type === 'GENERAL') throw new Refused(`${gate.label} is a table over values that may be missing`)
    const all = inputs.map(({ node, wanted }) => brackets(node.isIn(wanted))).join(' && ')
    const any = inputs.map(({ node, wanted }) => brackets(node.isIn(wanted))).join(' || ')
    const notAll = () => inputs.map(({ node, wanted }) => brackets(node.isNotIn(wanted))).join(' || ')
    const none = () => inputs.map(({ node, wanted }) => brackets(node.isNotIn(wanted))).join(' && ')
    const name = `g${slot}`
    const table: Readonly<Record<typeof type, readonly [yes: string, no: () => string]>> = {
      AND: [all, notAll],
      OR: [any, none],
      NAND: [notAll(), () => all],
      GENERAL: [this.#rows(gate), () => `!${name}`],
    }
    const [yes, no] = table[type]
    lines.push(`const ${name} = ${yes}`)
    const unholds = isKnown ? `!${name}` : no()
    const holds = (states: readonly number[]) => {
      const parts = [...(states.includes(TRUE) ? [name] : []), ...(states.includes(FALSE) ? [unholds] : [])]
      return parts.length === 0 ? 'false' : parts.map(brackets).join(' || ')
    }
    return {
      isKnown,
      isIn: holds,
      isNotIn: (states) => holds([TRUE, FALSE].filter((state) => !states.includes(state))),
    }
  }

  #rows({ rows, parents }: GateNode): string {
    const row = (wanted: readonly number[]) =>
      parents.map((parent, i) => brackets(this.#of(parent).isIn([wanted[i] ?? UNKNOWN]))).join(' && ')
    return rows.length === 0 ? 'false' : rows.map((one) => brackets(row(one))).join(' || ')
  }

  #of(node: ObservableNode): Written {
    return this.#written.get(node) as Written // parents come before children
  }

  #actuator({ slot, incoming }: ActuatorNode, cools: boolean): string {
    const act = cools ? `own.f${slot} = now(); act(own, ${slot})` : `act(own, ${slot})`
    const written = incoming.map((trigger) => this.#trigger(trigger))
    const [only, another] = written
    if (only === undefined) return ''
    const fires = written.map(({ holds }, i) => {
      const cooled = cools ? [`now() >= own.f${slot} + ${incoming[i]?.policyMs}`] : []
      return (
        [holds, ...cooled]
          .filter((one) => one !== undefined)
          .map(brackets)
          .join(' && ') || 'true'
      )
    })
    const fire = [...written.flatMap(({ fired }) => fired), act].join('; ')
    const isAlways = another === undefined && fires[0] === 'true'
    const condition = another === undefined ? fires[0] : fires.map(brackets).join(' || ')
    return [
      ...written.flatMap(({ before }) => before),
      isAlways ? fire : `if (${condition}) { ${fire} }`,
      ...written.flatMap(({ after }) => after),
    ].join('\n')
  }

  #trigger(trigger: TriggerEdge): WrittenTrigger {
    const { source, states, change, begins, ends, behind } = trigger
    const node = this.#of(source)
    const ran = this.#ran(behind.filter(({ kind }) => kind === 'sensor') as SensorNode[])
    if (isUnconditional(trigger)) {
      return plainly(allOf(ran, node.isKnown ? undefined : node.isIn(source.states.map((_, i) => i))))
    }
    if ([states, change, begins, ends].filter((part) => part !== undefined).length > 1) {
      throw new Refused(`a trigger of ${source.label} has several conditions`)
    }
    if (states !== undefined) return plainly(allOf(ran, node.isIn(placesOf(states))))
    return change === undefined ? this.#byEdge(trigger, ran) : this.#byChange(source, change)
  }

  #byChange(source: ObservableNode, { from, to }: { from: number; to: number }): WrittenTrigger {
    if (from === ANY) throw new Refused(`a trigger of ${source.label} waits for a change from any state`)
    const name = this.#remember()
    const node = this.#of(source)
    const target = to === ANY ? source.states.map((_, i) => i).filter((i) => i !== from) : [to]
    return {
      before: [],
      holds: `${name} === 1 && ${brackets(node.isIn(target))}`,
      fired: [],
      after: [
        `if (${node.isIn([from])}) ${name} = 1`,
        `else if (${name} === 1 && ${brackets(node.isNotIn([from]))}) ${name} = 0`,
      ],
    }
  }

  #byEdge({ source, begins, ends }: TriggerEdge, ran: string | undefined): WrittenTrigger {
    const name = this.#remember()
    const node = this.#of(source)
    const set = placesOf(begins ?? ends ?? [])
    const [isIn, isNotIn] = [allOf(ran, node.isIn(set)) ?? 'true', allOf(ran, node.isNotIn(set)) ?? 'true']
    return begins === undefined
      ? {
          before: [`if (${isIn}) ${name} = 1`],
          holds: allOf(`${name} === 1`, isNotIn),
          fired: [`if (${isNotIn}) ${name} = 0`],
          after: [],
        }
      : {
          before: [`if (${isNotIn}) ${name} = 0`],
          holds: allOf(`${name} === 0`, isIn),
          fired: [`if (${isIn}) ${name} = 1`],
          after: [],
        }
  }

  #remember(): string {
    const name = `m${this.#memory.length}`
    this.#memory.push([name, 0])
    return `own.${name}`
  }

  /** Returns the condition that at least one of the sensors has a state; undefined: always true. */
  #ran(sensors: readonly SensorNode[]): string | undefined {
    const names = [...new Set(sensors.flatMap((sensor) => this.#reads.get(sensor) ?? []))]
    const hasHoles = (name: string): boolean => this.#facts.of(name).kind === 'holes'
    if (this.#facts.hasOneOf(names.filter((name) => !hasHoles(name)))) return undefined
    const values = names.map((name) => [name, `message[${JSON.stringify(name)}]`] as const)
    return values
      .map(([name, value]) => (hasHoles(name) ? `Number.isFinite(${value})` : `${value} !== undefined`))
      .join(' || ')
  }

  #conjunction({ source, states, behind }: TriggerEdge): readonly string[] | undefined {
    const isPlain = source.kind === 'gate' && source.type === 'AND' && states?.[TRUE] === true && states[FALSE] !== true
    const sensors = behind.filter((node) => node.kind === 'sensor')
    // If each message has all values, comparisons that hold imply that their sensors have states.
    const isWhole = sensors.every((one) => (this.#reads.get(one) ?? []).every((name) => this.#facts.of(name).always))
    if (!isPlain || (!isWhole && this.#ran(sensors) !== undefined)) return undefined
    if (source.parents.some(({ kind }) => kind === 'gate')) return undefined
    const parts = source.inputs.map(({ wanted }, i) => this.#of(source.parents[i] as ObservableNode).isIn([wanted]))
    const first = parts.findIndex((part) => /^v\d+ > own\.c\d+$/.test(part))
    return first === -1 ? undefined : [parts[first] as string, ...parts.filter((_, i) => i !== first)]
  }
}

function plainly(holds: string | undefined): WrittenTrigger {
  return { before: [], holds, fired: [], after: [] }
}

/** Joins conditions with `&&`; undefined: always true. */
function allOf(...conditions: readonly (string | undefined)[]): string | undefined {
  const known = conditions.filter((one) => one !== undefined)
  return known.length === 0 ? undefined : known.length === 1 ? known[0] : known.map(brackets).join(' && ')
}

function placesOf(states: readonly boolean[]): readonly number[] {
  return states.flatMap((isWanted, i) => (isWanted ? [i] : []))
}

/** `isWanted` lists the ranges as in `Steps.states`. The test is never true for NaN. */
function rangesSource(value: string, isWanted: readonly boolean[], cut: (index: number) => string): string {
  const last = isWanted.length - 1
  const parts: string[] = []
  for (let from = 0; from <= last; from++) {
    if (isWanted[from] !== true) continue
    let to = from
    while (isWanted[to + 1] === true) to++
    const isPoint = from === to && from % 2 === 1
    const low = from === 0 ? [] : [`${value} ${from % 2 === 1 ? '>=' : '>'} ${cut((from - 1) >> 1)}`]
    const high = to === last ? [] : [`${value} ${to % 2 === 1 ? '<=' : '<'} ${cut(to >> 1)}`]
    const bounds = isPoint ? [`${value} === ${cut((from - 1) >> 1)}`] : [...low, ...high]
    parts.push(bounds.length === 0 ? `${value} === ${value}` : bounds.join(' && '))
    from = to
  }
  return parts.length === 0 ? 'false' : parts.length === 1 ? (parts[0] as string) : parts.map(brackets).join(' || ')
}

function brackets(source: string): string {
  return /^[\w.!]+$/.test(source) || (/^[^&|()]+$/.test(source) && !source.includes('?')) ? source : `(${source})`
}
