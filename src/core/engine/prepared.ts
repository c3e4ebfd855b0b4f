/** A rule that is ready to start. What tasks of one template share is held once; each has its names beside it. */
import type { Issue } from '#kernel'
import type { Graph } from '../graph/graph.ts'
import { withProperties, type RuleProperties } from '../graph/rule-properties.ts'
import type { Rule } from '../rule/rule.ts'
import type { SharedSettings } from '../rule/settings.ts'

export interface VariableOverrides {
  readonly byStream: readonly string[]
  readonly byData: readonly string[]
}

/** What is equal in tasks of one template, and in rules that differ in nothing but properties of nodes. */
export interface PreparedTemplate {
  readonly graph: Graph
  /** of the rule for which it was prepared */
  readonly properties: RuleProperties
  readonly settings: SharedSettings
  /** simplified form with overrides applied and settings merged, but without a resource in them; the name in them is any */
  readonly rule: Rule
  readonly template: string | undefined
  /** declared variables that live data may replace */
  readonly overrides: VariableOverrides
  readonly warnings: readonly Issue[]
}

/** What a task is called, and the resource that it was given, which may be empty. */
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

  /** The resource of the task; undefined: it has none. */
  get resource(): string | undefined {
    return this.#resource === '' ? undefined : this.#resource
  }

  /** Simplified form with overrides applied and settings merged; enough to prepare the same again. */
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

  /** The same as a task of that template. */
  of(template: string | undefined, overrides: VariableOverrides): Prepared {
    const names = { name: this.#name, resource: this.#resource }
    return new Prepared({ ...this.#shared, template, overrides }, names, this.properties)
  }
}
