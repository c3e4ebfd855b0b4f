/** Rules in TypeScript: the compiler checks plugs, properties, states and values; the result is the JSON of the rule. */
import type { DefinedPlug, Rule, Template } from '#core'
import type { Builtin } from '#plugins'
import {
  type CatalogueOf,
  type DeclaredVariables,
  type GivenVariables,
  type Graph,
  makeGraph,
  makeTemplate,
  type RuleSettings,
  type TemplateSettings,
  type VariableTypes,
} from './graph.ts'

import { act, type Nouns, sense } from './nouns.ts'

export interface Rules<P extends DefinedPlug> extends Nouns<P> {
  /** a rule, node by node; settings null: without a task */
  graph<const V extends Readonly<Record<string, unknown>>>(
    settings: RuleSettings<V> | null,
    write: (graph: Graph<CatalogueOf<P>>, variables: GivenVariables<V>) => void,
  ): Rule
  /** a template, node by node */
  template<const D extends VariableTypes>(
    settings: TemplateSettings<D>,
    write: (graph: Graph<CatalogueOf<P>>, variables: DeclaredVariables<D>) => void,
  ): Template
}

/** Rules over the built-in plugs and plugs of one's own. Only the types of the plugs are used. */
export function rules<const Own extends readonly DefinedPlug[] = readonly []>(
  _plugs?: Own,
): Rules<Builtin | Own[number]> {
  return { graph: makeGraph, template: makeTemplate, sense, act }
}

const own = rules()
export const { graph, template } = own
const { sense: senseBuiltin, act: actBuiltin } = own
export { senseBuiltin as sense, actBuiltin as act }

export { alarm, all, any, clear, count, group, log, rule, says, seq, thing } from './nouns.ts'
export type { AlarmOptions, Consequences, EachMember, Effect, Limits, Members, Thing } from './nouns.ts'
export type { ChoiceMetric, ChoiceSignal, Condition, Conditions, NumberMetric, NumberSignal } from './signal-types.ts'

export { code, read, text, type Value, value, values } from './value.ts'
export type { ActuatorNode, Edge, Graph, Held, SensorNode, StateNode } from './graph.ts'
export type { Duration } from './plug-types.ts'
