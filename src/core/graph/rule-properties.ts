/**
 * The properties that the nodes of one rule were given. They are all that rules over one graph do not share, so each
 * keeps them as they were written; what a call needs is made of them when it is first asked for.
 */
import { AppError } from '#kernel'
import { compileProperties, type CompiledProperties } from '../language/placeholders/properties.ts'
import type { Plug } from '../plug/plug.ts'
import { finishProperties } from '../plug/properties.ts'
import { RecentPrepares } from '../plug/recent-prepares.ts'
import type { RuleGraph } from '../rule/rule.ts'
import type { PlugCall } from './graph.ts'

export type Properties = Readonly<Record<string, unknown>>

/** The properties of one node of one rule, ready for its calls. */
export interface NodeProperties {
  readonly plug: Plug
  readonly compiled: CompiledProperties
  /** finished properties, when none depends on the moment */
  readonly constant: Properties | undefined
  readonly prepared: unknown
  /** prepares properties that depend on the moment; undefined when there is nothing to prepare */
  readonly recent: RecentPrepares | undefined
}

/** Of nodes that were given none. */
export const NO_PROPERTIES: Properties = Object.freeze({})

export class RuleProperties {
  /** by place of the call; what is the very object of another rule's list is shared with it */
  readonly given: readonly Properties[]
  /** the rule that the graph was compiled for, unless it is this one */
  readonly #first: RuleProperties | undefined
  #made: (NodeProperties | undefined)[] | undefined

  constructor(given: readonly Properties[], made?: (NodeProperties | undefined)[], first?: RuleProperties) {
    this.given = given
    this.#made = made
    this.#first = first
  }

  /** What calls of a node need. */
  of(call: PlugCall): NodeProperties {
    return this.#known(call) ?? this.#keep(call)
  }

  /** The same for somebody who looks once: it is not kept. */
  peek(call: PlugCall): NodeProperties {
    return this.#known(call) ?? this.#make(call)
  }

  #known({ place }: PlugCall): NodeProperties | undefined {
    return this.#ownerOf(place).#made?.[place]
  }

  #keep(call: PlugCall): NodeProperties {
    const made = this.#make(call)
    const owner = this.#ownerOf(call.place)
    owner.#made ??= this.given.map(() => undefined)
    owner.#made[call.place] = made
    return made
  }

  /** Who keeps what is made of the properties at that place. */
  #ownerOf(place: number): RuleProperties {
    const first = this.#first
    return first !== undefined && first.given[place] === this.given[place] ? first : this
  }

  #make({ plug, place }: PlugCall): NodeProperties {
    return nodeProperties(plug, this.given[place] ?? NO_PROPERTIES, '')
  }
}

/** Throws `BINDING` and `VALIDATION` for properties that cannot be used, and whatever the plug's `prepare` throws. */
export function nodeProperties(plug: Plug, given: Properties, label: string): NodeProperties {
  const compiled = compileProperties(given, plug.input)
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

/** What the nodes of a rule were given, by place of their calls. */
export function givenIn({ sensors = [], actuators = [] }: RuleGraph): readonly Properties[] {
  return [...sensors, ...actuators].map(({ properties }) => properties ?? NO_PROPERTIES)
}

/** The rule with these properties in place of its own. */
export function withProperties<R extends RuleGraph>(rule: R, { given }: RuleProperties): R {
  const { sensors, actuators } = rule
  const filled = { ...rule }
  if (sensors) filled.sensors = sensors.map((node, i) => withGiven(node, given[i]))
  if (actuators) filled.actuators = actuators.map((node, i) => withGiven(node, given[(sensors?.length ?? 0) + i]))
  return filled
}

function withGiven<N extends { properties?: Properties }>(node: N, properties: Properties | undefined): N {
  return node.properties === undefined || properties === undefined ? node : { ...node, properties }
}
