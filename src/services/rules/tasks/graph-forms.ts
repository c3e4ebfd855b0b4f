/** Converts graphs of rules to the requested form, once for all tasks that share them. */
import { type NodeOverride, type PlugRegistry, toBn } from '#core'
import { applyOverrides, Report, type RuleGraph } from '#core/spi'
import type { GraphFormat } from '../shared-schema.ts'

export type WireGraph = Readonly<Record<string, unknown>>

export class GraphForms {
  readonly #plugs: PlugRegistry
  readonly #made = new WeakMap<RuleGraph, Partial<Record<GraphFormat, WireGraph>>>()

  constructor(plugs: PlugRegistry) {
    this.#plugs = plugs
  }

  /** With its overrides; stays in simplified form if it cannot be converted (a plug no longer exists). */
  of(graph: RuleGraph, overrides: readonly NodeOverride[], format: GraphFormat): WireGraph {
    if (overrides.length > 0) return this.#make(applyOverrides(graph, overrides, '/nodes', new Report()), format)
    let forms = this.#made.get(graph)
    if (forms === undefined) {
      forms = {}
      this.#made.set(graph, forms)
    }
    return (forms[format] ??= this.#make(graph, format))
  }

  #make(graph: RuleGraph, format: GraphFormat): WireGraph {
    const { sensors = [], actuators = [], relations = [], triggers = [], notes = [] } = graph
    const simplified = { sensors, actuators, relations, triggers, notes }
    if (format === 'simplified') return simplified
    const { bn } = toBn(simplified, this.#plugs)
    return bn ? { ...bn } : simplified
  }
}
