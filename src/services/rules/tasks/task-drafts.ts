/** What a stored task would become by a reload or an update; nothing is changed. */
import { applyOverrides, mergeOverrides, Report } from '#core/spi'
import { AppError, validationError } from '#kernel'
import type { TaskSettings } from '#core'
import type { PluginUpdate, PropertiesUpdate, TaskAction } from '../batches/batch-schema.ts'
import { withUpdatedPlugs } from './plug-versions.ts'
import type { SourceRepository } from './source-repository.ts'
import type { Draft, RunnableSource, TaskMaker } from './task-maker.ts'
import type { TaskRecord } from './task-record.ts'

/** An action that gives a task other parts. */
export type TaskUpdate = Extract<TaskAction, { action: 'reload' | 'updatePlugins' | 'updateProperties' }>

export class TaskDrafts {
  readonly #maker: TaskMaker
  readonly #sources: SourceRepository

  constructor(maker: TaskMaker, sources: SourceRepository) {
    this.#maker = maker
    this.#sources = sources
  }

  /** Throws `VALIDATION`, and `WRONG_STATUS` for the reload of a task without a template. */
  async of(task: TaskRecord, update: TaskUpdate): Promise<Draft> {
    if (update.action === 'reload') {
      if (task.template === undefined)
        throw new AppError('WRONG_STATUS', `Not possible to reload task ${task.id}: it was not made from a template`)
      return this.#maker.reload(task, await this.#sources.ofTemplate(task.template, update.templateVersion))
    }
    const parts = await this.#maker.parts(task)
    if (update.action === 'updatePlugins') return this.#withUpdates(task, parts, update.updates)
    requireNodes(parts, update.update)
    const settings = withProperties(parts.settings, task.effective.tags, update.update)
    const { tags: _tags, ...sent } = update.update
    return this.#maker.remake(task, { ...parts, settings }, sent as TaskSettings)
  }

  #withUpdates(task: TaskRecord, { source, rule, settings }: RunnableSource, updates: readonly PluginUpdate[]): Draft {
    const parts = {
      source: source && this.#sources.of(withUpdatedPlugs(source.document, updates)),
      rule: rule && withUpdatedPlugs(rule, updates),
      settings: withPinnedVersions(settings, updates),
    }
    return this.#maker.remake(task, parts, {})
  }
}

/** Overrides that fit no node are told by their places in the update, before they are merged with earlier ones. */
function requireNodes({ source, rule = {} }: RunnableSource, { nodes = [] }: PropertiesUpdate): void {
  const report = new Report()
  applyOverrides(source?.document ?? rule, nodes, '/actionParameters/nodes', report)
  if (report.hasErrors) throw validationError('the update', report.issues)
}

/** `tags`: those that the task shows now, its template's among them. */
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

/** Overrides may pin a version too. */
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
