/** A rule that is ready to start. What tasks of one template share is held once; each has its resource beside it. */
import type { Issue } from '../../kernel/errors.ts'
import type { Graph } from '../graph/graph.ts'
import type { Rule } from '../rule/rule.ts'
import type { SharedSettings } from '../rule/settings.ts'

export interface VariableOverrides {
  readonly byStream: readonly string[]
  readonly byData: readonly string[]
}

export interface PreparedTemplate {
  readonly graph: Graph
  readonly settings: SharedSettings
  /** simplified form with overrides applied and settings merged, but without a resource in them */
  readonly rule: Rule
  readonly template: string | undefined
  /** declared variables that live data may replace */
  readonly overrides: VariableOverrides
  readonly warnings: readonly Issue[]
}

export class Prepared {
  readonly #shared: PreparedTemplate
  /** as it was given, which may be empty */
  readonly #resource: string | undefined

  constructor(shared: PreparedTemplate, resource: string | undefined) {
    this.#shared = shared
    this.#resource = resource
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
    const { rule } = this.#shared
    return this.#resource === undefined ? rule : { ...rule, task: { ...rule.task, resource: this.#resource } }
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
    return new Prepared({ ...this.#shared, template, overrides }, this.#resource)
  }
}
