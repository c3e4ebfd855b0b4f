/** Represents a rule that is ready to start, which the tasks of one template share. */
import type { Issue } from '#kernel'
import type { Graph } from '../graph/graph.ts'
import { withProperties, type RuleProperties } from '../graph/rule-properties.ts'
import type { Rule } from '../rule/rule.ts'
import type { SharedSettings } from '../rule/settings.ts'

export interface VariableOverrides {
  readonly byStream: readonly string[]
  readonly byData: readonly string[]
}

/** The part that tasks of one template share, or rules that differ only in properties of nodes. */
export interface PreparedTemplate {
  readonly graph: Graph
  readonly properties: RuleProperties
  readonly settings: SharedSettings
  /** simplified form with overrides and settings; its resource is omitted and its name arbitrary */
  readonly rule: Rule
  readonly template: string | undefined
  readonly overrides: VariableOverrides
  readonly warnings: readonly Issue[]
}

export interface Names {
  readonly name?: string | undefined
  readonly resource?: string | undefined
}

export class Prepared {
  readonly properties: RuleProperties
  readonly #shared: PreparedTemplate
  readonly #name: string | undefined
  readonly #resource: string | undefined

  constructor(shared: PreparedTemplate, { name, resource }: Names, properties: RuleProperties) {
    this.#shared = shared
    this.properties = properties
    this.#name = name
    this.#resource = resource
  }

  get name(): string {
    return this.#name ?? 'task'
  }

  get graph(): Graph {
    return this.#shared.graph
  }

  get settings(): SharedSettings {
    return this.#shared.settings
  }

  get resource(): string | undefined {
    return this.#resource === '' ? undefined : this.#resource
  }

  get rule(): Rule {
    const { rule: shared, properties } = this.#shared
    const rule = this.properties === properties ? shared : withProperties(shared, this.properties)
    const [name, resource] = [this.#name, this.#resource]
    if (resource === undefined && name === rule.task?.name) return rule
    const names = { ...(name !== undefined && { name }), ...(resource !== undefined && { resource }) }
    return { ...rule, task: { ...rule.task, ...names } }
  }

  get template(): string | undefined {
    return this.#shared.template
  }

  get overrides(): VariableOverrides {
    return this.#shared.overrides
  }

  get warnings(): readonly Issue[] {
    return this.#shared.warnings
  }

  of(template: string | undefined, overrides: VariableOverrides): Prepared {
    const names = { name: this.#name, resource: this.#resource }
    return new Prepared({ ...this.#shared, template, overrides }, names, this.properties)
  }
}
