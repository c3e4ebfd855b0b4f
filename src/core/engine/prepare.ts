/** Turns a user's rule into a compiled graph; tasks of one template share one graph. */
import { AppError, hasKeysOf, haveSameText, type Issue, LruCache, ownValue, validationError } from '#kernel'
import { compileRule, type CompiledRule } from '../graph/compile.ts'
import { isFrozenCopy } from '../plug/frozen-copy.ts'
import type { Plug, PlugRegistry } from '../plug/plug.ts'
import type { CheckOptions } from '../rule/check/report.ts'
import { instantiate, type Instance } from '../rule/instantiate.ts'
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'
import { normalizeSettings, type SettingDefaults } from '../rule/settings.ts'
import { validateRule, validateTemplate } from '../rule/validate.ts'
import { Prepared, type Names, type PreparedTemplate, type VariableOverrides } from './prepared.ts'
import { propertiesOver, RuleStructures, type Likeness } from './rule-structures.ts'

interface SavedRule {
  readonly rule: Rule
  readonly template?: string
  readonly overrides?: VariableOverrides
}

const NO_OVERRIDES: VariableOverrides = { byStream: [], byData: [] }

interface Source {
  readonly document: Rule | Template
  readonly overrides: VariableOverrides
  readonly graphs: LruCache<string, KnownGraph>
  recent: Recent | undefined
  isOffered: boolean
}

interface KnownGraph {
  readonly compiled: CompiledRule
  readonly warnings: readonly Issue[]
  /** the last prepared task: tasks of one template mostly differ only in their resource */
  last: PreparedTemplate | undefined
}

/** A prepared template for tasks whose settings are equal except for names. */
interface Recent {
  readonly request: TaskSettings
  readonly known: KnownGraph
  readonly shared: PreparedTemplate
  readonly names: Names
}

class Known {
  readonly sources = new LruCache<string, Source>(MAX_SOURCES)
  readonly structures = new RuleStructures<Source>()
  readonly frozen = new WeakMap<object, Source>()
  template: { readonly input: unknown; readonly source: Source } | undefined
}

const MAX_SOURCES = 1000
const MAX_GRAPHS = 1000
const NOTHING: Omit<Likeness<Source>, 'known'> = { changed: [], task: {} }

export class Preparer {
  readonly plugs: PlugRegistry
  readonly #defaults: SettingDefaults
  #list: readonly Plug[]
  #lenient = new Known()
  #strict = new Known()

  constructor(plugs: PlugRegistry, defaults: SettingDefaults = {}) {
    this.plugs = plugs
    this.#defaults = defaults
    this.#list = plugs.list()
  }

  prepare(input: Rule | Template, request: TaskSettings = {}, options: CheckOptions = {}): Prepared {
    return this.#prepare(input, NO_OVERRIDES, request, options)
  }

  prepareSaved({ rule, template, overrides = NO_OVERRIDES }: SavedRule): Prepared {
    return this.#prepare(rule, overrides, {}, {}).of(template, overrides)
  }

  /** `overrides`: of the nodes of a rule that was created from a template. */
  #prepare(
    input: Rule | Template,
    overrides: VariableOverrides,
    request: TaskSettings,
    options: CheckOptions,
  ): Prepared {
    const all = this.#known(options)
    if (request.nodes === undefined && overrides.byStream.length === 0) {
      const { template, frozen } = all
      const known = frozen.get(input)
      if (known !== undefined) return this.#ofSource(known, NOTHING, request, options)
      if (template !== undefined && haveSameText(input, template.input)) {
        return this.#ofSource(template.source, NOTHING, request, options)
      }
      for (const { known: like, ...its } of all.structures.like(input)) {
        const prepared = this.#like(like, its, request, options)
        if (prepared !== undefined) return prepared
      }
    }
    const source = this.#source(input, overrides, all, options)
    const prepared = this.#ofSource(source, NOTHING, request, options)
    if (request.nodes !== undefined || overrides.byStream.length > 0) return prepared
    if (!isTemplate(input)) {
      if (!source.isOffered) all.structures.add(input, source.document, prepared, options, source)
    } else if (isFrozenCopy(input)) all.frozen.set(input, source)
    else all.template = { input: JSON.parse(textOf(input)), source }
    source.isOffered = true
    return prepared
  }

  #known({ strict = false }: CheckOptions): Known {
    if (this.#list !== this.plugs.list()) {
      this.#list = this.plugs.list()
      this.#lenient = new Known()
      this.#strict = new Known()
    }
    return strict ? this.#strict : this.#lenient
  }

  #like(source: Source, its: typeof NOTHING, request: TaskSettings, options: CheckOptions): Prepared | undefined {
    try {
      return this.#overSource(source, its, request, options)
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  #ofSource(source: Source, its: typeof NOTHING, request: TaskSettings, options: CheckOptions): Prepared {
    return this.#overSource(source, its, request, options) as Prepared // defined if nothing changed
  }

  #overSource(
    source: Source,
    { changed, task }: typeof NOTHING,
    request: TaskSettings,
    options: CheckOptions,
  ): Prepared | undefined {
    const { document, recent } = source
    if (recent !== undefined && isRequestLike(request, recent.request) && areNames(task)) {
      const properties = propertiesOver(recent.known.compiled, document, changed, options)
      const { name = task.name ?? recent.names.name, resource = task.resource ?? recent.names.resource } = request
      return properties && new Prepared(recent.shared, { name, resource }, properties)
    }
    const instance = instantiate(hasNames(task) ? withNames(document, task) : document, request)
    refuse(instance.issues)
    const known = this.#graph(source, instance, options)
    const properties = propertiesOver(known.compiled, document, changed, options)
    if (properties === undefined) return undefined
    const shared = sharedBy(source, known, instance, this.#defaults)
    source.recent = recentOf(document, request, { known, shared })
    return new Prepared(shared, instance.rule.task ?? {}, properties)
  }

  #source(input: Rule | Template, overrides: VariableOverrides, { sources }: Known, options: CheckOptions): Source {
    const key = textOf(overrides.byStream.length === 0 ? input : [input, overrides])
    const known = sources.get(key)
    if (known) return known
    const checked = isTemplate(input)
      ? templateOf(input, this.plugs, options)
      : ruleOf(input, overrides, this.plugs, options)
    const source: Source = { ...checked, graphs: new LruCache(MAX_GRAPHS), recent: undefined, isOffered: false }
    sources.set(key, source)
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
    const { rule, issues } = validateRule(instance.rule, this.plugs, options)
    if (rule === undefined) throw validationError('the rule', issues)
    const entry = {
      compiled: compileRule(rule, this.plugs, source.overrides.byStream),
      warnings: issues,
      last: undefined,
    }
    source.graphs.set(key, entry)
    return entry
  }
}

function sharedBy(
  { document, overrides }: Source,
  known: KnownGraph,
  instance: Instance,
  defaults: SettingDefaults,
): PreparedTemplate {
  const { resource: _resource, ...task } = instance.rule.task ?? {}
  if (known.last === undefined || !isSameTask(known.last.rule.task ?? {}, task)) {
    const { name: _name, resource: _none, ...settings } = normalizeSettings(task, defaults)
    known.last = {
      ...known.compiled,
      settings,
      rule: { ...instance.rule, task },
      template: 'name' in document ? document.name : undefined,
      overrides,
      warnings: known.warnings,
    }
  }
  return known.last
}

function recentOf(
  { task, taskDefaults }: Partial<Rule & Template>,
  request: TaskSettings,
  made: Pick<Recent, 'known' | 'shared'>,
): Recent | undefined {
  const copy = JSON.parse(textOf(request) || '{}') as TaskSettings
  if (!haveSameText(request, copy) || !areNames(copy)) return undefined
  const { name, resource }: Names = { ...taskDefaults, ...task }
  return { request: copy, names: { name, resource }, ...made }
}

function isRequestLike(request: TaskSettings, known: TaskSettings): boolean {
  if (!hasKeysOf(request, known) || !areNames(request)) return false
  for (const key in known) {
    if (key === 'name' || key === 'resource') continue
    if (!haveSameText(ownValue(request, key), ownValue(known, key))) return false
  }
  return true
}

function areNames({ name = 'x', resource = 'x' }: Names): boolean {
  return typeof name === 'string' && typeof resource === 'string' && resource !== ''
}

function hasNames(task: Likeness<Source>['task']): boolean {
  return task.name !== undefined || task.resource !== undefined
}

function withNames(document: Rule, task: Likeness<Source>['task']): Rule {
  return { ...document, task: { ...document.task, ...task } }
}

function isTemplate(input: unknown): input is Template {
  return typeof input === 'object' && input !== null && 'name' in input
}

/** Whether tasks of one graph are equal except for names; only the settings compared here can differ between them. */
function isSameTask(a: TaskSettings, b: TaskSettings): boolean {
  return hasKeysOf(a, b) && haveSameText(a.tags, b.tags) && haveSameText(a.variables, b.variables)
}

function changes(source: Source, instance: Instance): unknown {
  const { sensors, actuators } = instance.rule
  return sensors === source.document.sensors && actuators === source.document.actuators ? null : [sensors, actuators]
}

function ruleOf(
  input: Rule,
  overrides: VariableOverrides,
  plugs: PlugRegistry,
  options: CheckOptions,
): Pick<Source, 'document' | 'overrides'> {
  const { rule, issues } = validateRule(input, plugs, options)
  if (rule === undefined) throw validationError('the rule', issues)
  return { document: rule, overrides }
}

function templateOf(
  input: Template,
  plugs: PlugRegistry,
  options: CheckOptions,
): Pick<Source, 'document' | 'overrides'> {
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

/** Returns the JSON text of the input; cyclic input is left to the validator, which reports it. */
function textOf(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ''
  } catch {
    return ''
  }
}
