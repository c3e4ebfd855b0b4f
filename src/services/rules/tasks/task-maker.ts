/** Makes the record of a task from a specification: reads it, checks it and fixes its plug versions. Stores nothing. */
import { applyOverrides, type CheckOptions, mergeOverrides, type Prepared, Preparer, Report } from '#core/spi'
import { type PlugRegistry, type Rule, type TaskSettings, validateTemplate } from '#core'
import { AppError, describeIssue, type Issue, type Rights, validationError } from '#kernel'
import type { PluginUpdate, PropertiesUpdate, TaskAction } from '../batches/batch-schema.ts'
import { plugsOf, withExactVersions, withUpdatedPlugs } from './plug-versions.ts'
import { readSpecification, settingsOf } from './read-specification.ts'
import type { RunnableTask } from '../runner.ts'
import type { CountedByDocument } from '../tools/direct-runs.ts'
import { inRequest, type SentRequest } from './request-issues.ts'
import { requireSecretRights } from './secret-rights.ts'
import type { Source, SourceRepository } from './source-repository.ts'
import type { TaskRecord } from './task-record.ts'

export interface Draft {
  readonly fields: Pick<
    TaskRecord,
    | 'name'
    | 'form'
    | 'conf'
    | 'template'
    | 'templateVersion'
    | 'source'
    | 'rule'
    | 'rights'
    | 'settings'
    | 'effective'
    | 'plugs'
  >
  readonly source: Source | undefined
  readonly prepared: Prepared
  readonly warnings: readonly Issue[]
  readonly start: boolean | undefined
}

export interface RunnableSource {
  readonly source: Source | undefined
  readonly rule: Rule | undefined
  readonly settings: TaskSettings
}

export type TaskUpdate = Extract<TaskAction, { action: 'reload' | 'updatePlugins' | 'updateProperties' }>

interface Posted extends Pick<TaskRecord, 'form' | 'conf' | 'template'> {
  readonly templateVersion?: number | undefined
  readonly rights?: Rights | undefined
}

export class TaskMaker {
  readonly plugs: PlugRegistry
  readonly #sources: SourceRepository
  readonly #preparer: Preparer
  readonly #counted: CountedByDocument

  constructor(plugs: PlugRegistry, sources: SourceRepository, counted: CountedByDocument) {
    this.plugs = plugs
    this.#counted = counted
    this.#sources = sources
    this.#preparer = new Preparer(plugs)
  }

  /** `rights`: of the caller, which a rule without a template keeps; `takesDrafts`: accepts versions that are not published */
  async make(specification: unknown, options: CheckOptions = {}, rights?: Rights, takesDrafts = false): Promise<Draft> {
    const read = this.#counted(specification, () => readSpecification(specification, this.plugs, options))
    const conf = specification as TaskRecord['conf']
    if (read.form !== 'template') {
      const { task = {}, ...graph } = read.rule
      const { start, ...settings } = task
      const rule = withExactVersions(graph, this.plugs)
      return this.#counted(specification, () =>
        this.#draft(
          { source: undefined, rule, settings },
          { form: read.form, conf, rights },
          start,
          read.warnings,
          options,
          rights,
        ),
      )
    }
    const { template, templateVersion } = read.request
    const { start, ...settings } = settingsOf(read.request)
    const { source, version, rights: own } = await this.#sources.ofTemplate(template, templateVersion, takesDrafts)
    const posted = { form: 'template', conf, template, templateVersion: version, rights: own } as const
    return this.#counted([source.document, specification], () =>
      this.#draft({ source, rule: undefined, settings }, posted, start, read.warnings, options, rights),
    )
  }

  async updated(task: TaskRecord, update: TaskUpdate): Promise<Draft> {
    if (update.action === 'reload') {
      if (task.template === undefined)
        throw new AppError('WRONG_STATUS', `Not possible to reload task ${task.id}: it was not created from a template`)
      const { source, version, rights } = await this.#sources.ofTemplate(
        task.template,
        update.templateVersion,
        update.takesDrafts,
      )
      const parts = { source, rule: undefined, settings: task.settings }
      return this.#draft(parts, { ...task, templateVersion: version, rights }, undefined, [])
    }
    const request = { at: '/actionParameters', owner: `task ${task.id}`, ownerPath: '' }
    const parts = await this.parts(task)
    if (update.action === 'updatePlugins') {
      const next = this.#withUpdates(parts, update.updates)
      return this.#draft(next, task, undefined, [], {}, undefined, { ...request, settings: {} })
    }
    requireNodes(parts, update.update)
    const settings = withProperties(parts.settings, task.effective.tags, update.update)
    const { tags: _tags, ...sent } = update.update
    const { rights } = update
    return this.#draft({ ...parts, settings }, task, undefined, [], {}, rights, { ...request, settings: sent })
  }

  /** Makes a former version again, with its exact plug versions. `rights`: of who restores it. */
  restored({ form, conf, rule, settings }: TaskRecord, rights: Rights | undefined): Draft {
    return this.#draft({ source: undefined, rule, settings }, { form, conf, rights }, undefined, [])
  }

  #withUpdates({ source, rule, settings }: RunnableSource, updates: readonly PluginUpdate[]): RunnableSource {
    return {
      source: source && this.#sources.of(withUpdatedPlugs(source.document, updates)),
      rule: rule && withUpdatedPlugs(rule, updates),
      settings: withPinnedVersions(settings, updates),
    }
  }

  /** Returns the parts of a stored task, synchronously if its source is cached. */
  parts({ source: id, rule, settings }: TaskRecord): RunnableSource | Promise<RunnableSource> {
    if (id === undefined) return { source: undefined, rule, settings }
    const source = this.#sources.known(id) ?? this.#sources.load(id)
    if (!(source instanceof Promise)) return { source, rule, settings }
    return source.then((loaded) => ({ source: loaded, rule, settings }))
  }

  /** Returns the prepared rule, which is checked and compiled once for all tasks that share it. Throws `VALIDATION`. */
  prepare({ source, rule, settings }: RunnableSource, options: CheckOptions = {}): Prepared {
    return this.#preparer.prepare(source?.document ?? rule ?? {}, settings, options)
  }

  #draft(
    parts: RunnableSource,
    posted: Posted,
    start: boolean | undefined,
    found: readonly Issue[],
    options: CheckOptions = {},
    caller?: Rights,
    request = requestOf(parts, posted),
  ): Draft {
    const prepared = this.#prepareFor(parts, request, options)
    requireSecretRights(prepared, parts, caller)
    const { source, rule, settings } = parts
    const { form, conf, template, templateVersion, rights } = posted
    const { nodes: _used, start: wanted, ...merged } = prepared.rule.task ?? {}
    return {
      fields: {
        name: prepared.name,
        form,
        conf,
        ...(template !== undefined && { template }),
        ...(templateVersion !== undefined && { templateVersion }),
        ...(source !== undefined && { source: source.id }),
        ...(rule !== undefined && { rule }),
        ...(rights !== undefined && { rights }),
        settings,
        effective: { ...merged, type: prepared.settings.type },
        plugs: plugsOf(prepared.rule, this.plugs),
      },
      source,
      prepared,
      warnings: distinct([...found, ...inBody(prepared.warnings, parts, request)]),
      start: start ?? wanted,
    }
  }

  #prepareFor(parts: RunnableSource, request: RequestOf | undefined, options: CheckOptions): Prepared {
    try {
      return this.prepare(parts, options)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'VALIDATION' || request === undefined) throw error
      const { source } = parts
      const isStoredWrong = source !== undefined && validateTemplate(source.document, this.plugs).template === undefined
      throw validationError('the task', inBody(error.issues, parts, request, isStoredWrong))
    }
  }
}

type RequestOf = Omit<SentRequest, 'stored'>

/** Returns undefined if the request contains the whole rule: its paths then need no mapping. */
function requestOf({ source, settings }: RunnableSource, { templateVersion }: Posted): RequestOf | undefined {
  if (source === undefined) return undefined
  const version = templateVersion === undefined ? '' : ` (version ${templateVersion})`
  const owner = `template ${JSON.stringify(source.document.name)}${version}`
  return { settings, at: '', owner, ownerPath: '/template' }
}

function inBody(
  issues: readonly Issue[],
  { source, rule = {} }: RunnableSource,
  request: RequestOf | undefined,
  isStoredWrong = false,
): readonly Issue[] {
  if (request === undefined) return issues
  const whole = { ...request, stored: source?.document ?? rule }
  return issues.map((issue) => inRequest(issue, whole, isStoredWrong))
}

export function runnable(id: string, epoch: number, createTime: number, parts: RunnableSource): RunnableTask {
  const { source, rule, settings } = parts
  return { id, epoch, createTime, source: source?.document ?? rule ?? {}, settings }
}

function distinct(issues: readonly Issue[]): readonly Issue[] {
  const warnings = issues.filter(({ severity }) => severity !== 'ERROR')
  const byText = new Map(warnings.map((issue) => [`${issue.type} ${describeIssue(issue)}`, issue]))
  return [...byText.values()]
}

/** Reports overrides for unknown nodes by their path in the update, before merging them with earlier overrides. */
function requireNodes({ source, rule = {} }: RunnableSource, { nodes = [] }: PropertiesUpdate): void {
  const report = new Report()
  applyOverrides(source?.document ?? rule, nodes, '/actionParameters/nodes', report)
  if (report.hasErrors) throw validationError('the update', report.issues)
}

/** `shown`: the task's present tags, including those of its template. */
function withProperties(settings: TaskSettings, shown: TaskSettings['tags'], update: PropertiesUpdate): TaskSettings {
  const { nodes, variables, tags, ...flags } = update
  const next: TaskSettings = { ...settings, ...flags }
  if (nodes) next.nodes = mergeOverrides(settings.nodes ?? [], nodes)
  if (variables) next.variables = { ...settings.variables, ...variables }
  if (tags) {
    const merged = Object.entries({ ...shown, ...tags }).filter(([, value]) => value !== null)
    next.tags = Object.fromEntries(merged) as NonNullable<TaskSettings['tags']>
  }
  return next
}

function withPinnedVersions(settings: TaskSettings, updates: readonly PluginUpdate[]): TaskSettings {
  if (settings.nodes === undefined) return settings
  const nodes = settings.nodes.map((override) => {
    const { sensor } = override.properties
    if (sensor?.name === undefined || sensor.version === undefined) return override
    const update = updates.find(
      ({ name, fromVersion }) => name === sensor.name && (fromVersion === 'any' || fromVersion === sensor.version),
    )
    if (update === undefined) return override
    return { ...override, properties: { ...override.properties, sensor: { ...sensor, version: update.toVersion } } }
  })
  return { ...settings, nodes }
}
