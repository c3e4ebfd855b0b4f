/** Compiles the properties of one rule's nodes on first use. */
import { AppError } from '#kernel'
import { compileProperties, type CompiledProperties } from '../language/placeholders/properties.ts'
import type { Plug } from '../plug/plug.ts'
import { finishProperties } from '../plug/properties.ts'
import { RecentPrepares } from '../plug/recent-prepares.ts'
import type { RuleGraph } from '../rule/rule.ts'
import type { PlugCall } from './graph.ts'

export type Properties = Readonly<Record<string, unknown>>

export interface NodeProperties {
  readonly plug: Plug
  readonly compiled: CompiledProperties
  /** finished properties, when all are the same for every call */
  readonly constant: Properties | undefined
  readonly prepared: unknown
  /** prepares properties that differ between calls; undefined: nothing to prepare */
  readonly recent: RecentPrepares | undefined
}

export const NO_PROPERTIES: Properties = Object.freeze({})

export class RuleProperties {
  /** by index of the call; identical objects of several rules are shared */
  readonly properties: readonly Properties[]
  /** the rule for which the graph was compiled, unless it is this rule */
  readonly #first: RuleProperties | undefined
  #made: (NodeProperties | undefined)[] | undefined

  constructor(properties: readonly Properties[], made?: (NodeProperties | undefined)[], first?: RuleProperties) {
    this.properties = properties
    this.#made = made
    this.#first = first
  }

  of(call: PlugCall): NodeProperties {
    return this.#known(call) ?? this.#keep(call)
  }

  /** Compiles the properties of a call without caching them, for a single use. */
  peek(call: PlugCall): NodeProperties {
    return this.#known(call) ?? this.#make(call)
  }

  #known({ index }: PlugCall): NodeProperties | undefined {
    return this.#ownerOf(index).#made?.[index]
  }

  #keep(call: PlugCall): NodeProperties {
    const made = this.#make(call)
    const owner = this.#ownerOf(call.index)
    owner.#made ??= this.properties.map(() => undefined)
    owner.#made[call.index] = made
    return made
  }

  #ownerOf(index: number): RuleProperties {
    const first = this.#first
    return first !== undefined && first.properties[index] === this.properties[index] ? first : this
  }

  #make({ plug, index }: PlugCall): NodeProperties {
    return nodeProperties(plug, this.properties[index] ?? NO_PROPERTIES, '')
  }
}

/** Throws `BINDING`, `VALIDATION`, and errors of the plug's `prepare`. */
export function nodeProperties(plug: Plug, properties: Properties, label: string): NodeProperties {
  const compiled = compileProperties(properties, plug.input)
  const constant = compiled.constant === undefined ? undefined : finished(plug, compiled.constant, label)
  return {
    plug,
    compiled,
    constant,
    prepared: constant === undefined ? undefined : plug.prepare?.(constant),
    recent: constant === undefined && plug.prepare ? new RecentPrepares(plug.prepare) : undefined,
  }
}

function finished(plug: Plug, constant: Properties, label: string): Properties {
  const { properties, problems } = finishProperties(plug, constant)
  if (properties) return properties
  const texts = problems.map((problem) => `${problem.property}: ${problem.message}`)
  throw new AppError('VALIDATION', `node ${label}: ${texts.join('; ')}`)
}

export function propertiesIn({ sensors = [], actuators = [] }: RuleGraph): readonly Properties[] {
  return [...sensors, ...actuators].map(({ properties }) => properties ?? NO_PROPERTIES)
}

export function withProperties<R extends RuleGraph>(rule: R, { properties }: RuleProperties): R {
  const { sensors, actuators } = rule
  const filled = { ...rule }
  if (sensors) filled.sensors = sensors.map((node, i) => withNodeProperties(node, properties[i]))
  if (actuators)
    filled.actuators = actuators.map((node, i) => withNodeProperties(node, properties[(sensors?.length ?? 0) + i]))
  return filled
}

function withNodeProperties<N extends { properties?: Properties }>(node: N, properties: Properties | undefined): N {
  return node.properties === undefined || properties === undefined ? node : { ...node, properties }
}
