/**
 * From what a user hands in to a compiled graph with complete settings. Equal rules are validated and compiled once,
 * whoever hands them in, so that a fleet of tasks of one template shares one graph.
 */
import { validationError, type Issue } from '../../kernel/errors.ts'
import { LruCache } from '../../kernel/lru-cache.ts'
import { compileRule } from '../graph/compile.ts'
import type { Graph } from '../graph/graph.ts'
import type { Plug, PlugRegistry } from '../plug/plug.ts'
import type { CheckOptions } from '../rule/check/report.ts'
import { instantiate, type Instance } from '../rule/instantiate.ts'
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'
import { normalizeSettings } from '../rule/settings.ts'
import { validateRule, validateTemplate } from '../rule/validate.ts'
import { Prepared, type PreparedTemplate, type VariableOverrides } from './prepared.ts'

interface SavedRule {
  readonly rule: Rule
  readonly template?: string
  readonly overrides?: VariableOverrides
}

const NO_OVERRIDES: VariableOverrides = { byStream: [], byData: [] }

interface Source {
  readonly document: Rule | Template
  readonly overrides: VariableOverrides
  /** by what of the settings can change the graph or its checks */
  readonly graphs: LruCache<string, KnownGraph>
}

interface KnownGraph {
  readonly graph: Graph
  readonly warnings: readonly Issue[]
  /** of the task that was prepared last: those of one template mostly differ in their resource alone */
  last: PreparedTemplate | undefined
}

const MAX_SOURCES = 1000
const MAX_GRAPHS = 1000

export class Preparer {
  readonly #plugs: PlugRegistry
  /** the plugs of what is kept in `#sources` */
  #list: readonly Plug[]
  #sources = new LruCache<string, Source>(MAX_SOURCES)

  constructor(plugs: PlugRegistry) {
    this.#plugs = plugs
    this.#list = plugs.list()
  }

  /** Throws `VALIDATION` with every problem of the rule and its settings. */
  prepare(input: Rule | Template, request: TaskSettings = {}, options: CheckOptions = {}): Prepared {
    return this.#prepare(this.#source(input, NO_OVERRIDES, options), request, options)
  }

  #prepare(source: Source, request: TaskSettings, options: CheckOptions): Prepared {
    const instance = instantiate(source.document, request)
    refuse(instance.issues)
    const known = this.#graph(source, instance, options)
    const { resource, ...task } = instance.rule.task ?? {}
    if (known.last === undefined || !isSameTask(known.last.rule.task ?? {}, task)) {
      known.last = {
        graph: known.graph,
        settings: normalizeSettings(task),
        rule: { ...instance.rule, task },
        template: 'name' in source.document ? source.document.name : undefined,
        overrides: source.overrides,
        warnings: known.warnings,
      }
    }
    return new Prepared(known.last, resource)
  }

  /** The same of a saved task, whose rule has its overrides in it. */
  prepareSaved({ rule, template, overrides = NO_OVERRIDES }: SavedRule): Prepared {
    return this.#prepare(this.#source(rule, overrides, {}), {}, {}).of(template, overrides)
  }

  /** `overrides`: of a rule that was made of a template; a template says by itself. */
  #source(input: Rule | Template, overrides: VariableOverrides, options: CheckOptions): Source {
    if (this.#list !== this.#plugs.list()) {
      this.#list = this.#plugs.list()
      this.#sources = new LruCache(MAX_SOURCES)
    }
    const text = textOf(overrides.byStream.length === 0 ? input : [input, overrides])
    const key = `${options.strict === true ? 'strict ' : ''}${text}`
    const known = this.#sources.get(key)
    if (known) return known
    const isTemplate = typeof input === 'object' && input !== null && 'name' in input
    const checked = isTemplate
      ? templateOf(input, this.#plugs, options)
      : ruleOf(input, overrides, this.#plugs, options)
    const source: Source = { ...checked, graphs: new LruCache(MAX_GRAPHS) }
    this.#sources.set(key, source)
    return source
  }

  #graph(source: Source, instance: Instance, options: CheckOptions): KnownGraph {
    const { resource, variables, name, tags, ...shape } = instance.rule.task ?? {}
    const key = JSON.stringify([
      shape,
      typeof resource,
      typeof name,
      typeof tags,
      Object.keys(variables ?? {}),
      changes(source, instance),
    ])
    const known = source.graphs.get(key)
    if (known) return known
    const { rule, issues } = validateRule(instance.rule, this.#plugs, options)
    if (rule === undefined) throw validationError('the rule', issues)
    const entry = {
      graph: compileRule(rule, this.#plugs, source.overrides.byStream),
      warnings: issues,
      last: undefined,
    }
    source.graphs.set(key, entry)
    return entry
  }
}

/** Whether tasks of one graph are the same but for their resource: then their other settings differ in these at most. */
function isSameTask(a: TaskSettings, b: TaskSettings): boolean {
  return a.name === b.name && a.tags === b.tags && haveSameValues(a.variables ?? {}, b.variables ?? {})
}

function haveSameValues(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && Object.is(a[key], b[key]))
  )
}

/** Node overrides make another graph of the same source. */
function changes(source: Source, instance: Instance): unknown {
  const { sensors, actuators } = instance.rule
  return sensors === source.document.sensors && actuators === source.document.actuators ? null : [sensors, actuators]
}

function ruleOf(
  input: Rule,
  overrides: VariableOverrides,
  plugs: PlugRegistry,
  options: CheckOptions,
): Omit<Source, 'graphs'> {
  const { rule, issues } = validateRule(input, plugs, options)
  if (rule === undefined) throw validationError('the rule', issues)
  return { document: rule, overrides }
}

function templateOf(input: Template, plugs: PlugRegistry, options: CheckOptions): Omit<Source, 'graphs'> {
  const { template, issues } = validateTemplate(input, plugs, options)
  if (template === undefined) throw validationError(`template ${input.name}`, issues)
  const declared = template.variables ?? []
  const named = (flag: 'overrideByStream' | 'overrideByData') =>
    declared.filter((variable) => variable[flag] === true).map((variable) => variable.name)
  return {
    document: template,
    overrides: { byStream: named('overrideByStream'), byData: named('overrideByData') },
  }
}

function refuse(issues: readonly Issue[]): void {
  if (issues.some((issue) => issue.severity === 'ERROR')) throw validationError('the task', issues)
}

/** Cyclic or otherwise unprintable input is left to the validator, which says what is wrong with it. */
function textOf(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ''
  } catch {
    return ''
  }
}
