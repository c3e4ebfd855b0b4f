/** What a stored task would become by a reload or an update; nothing is changed. */
import { applyOverrides, mergeOverrides, Report } from '#core/spi'
import { validationError } from '#kernel'
import type { TaskSettings } from '#core'
import type { PluginUpdate, PropertiesUpdate } from '../batches/batch-schema.ts'
import type { TenantCollections } from '../collections.ts'
import { reloadRefused } from '../error-texts.ts'
import { withUpdatedPlugs } from './plug-versions.ts'
import type { SourceRepository } from './source-repository.ts'
import type { Draft, RunnableSource, TaskMaker } from './task-maker.ts'
import type { TaskRecord } from './task-record.ts'

export class TaskDrafts {
  readonly #maker: TaskMaker
  readonly #sources: SourceRepository

  constructor(maker: TaskMaker, sources: SourceRepository) {
    this.#maker = maker
    this.#sources = sources
  }

  /**
   * What a task would be after a reload: of its template's newest version, or of the one that is named. Throws
   * `WRONG_STATUS` for a task without a template.
   */
  async reloaded(collections: TenantCollections, task: TaskRecord, templateVersion?: number): Promise<Draft> {
    if (task.template === undefined) throw reloadRefused(task.id)
    return this.#maker.reload(task, await this.#sources.ofTemplate(collections, task.template, templateVersion))
  }

  async withUpdates(
    collections: TenantCollections,
    task: TaskRecord,
    updates: readonly PluginUpdate[],
  ): Promise<Draft> {
    const { source, rule, settings } = await this.#maker.parts(collections, task)
    const parts = {
      source: source && this.#sources.of(collections, withUpdatedPlugs(source.document, updates)),
      rule: rule && withUpdatedPlugs(rule, updates),
      settings: withPinnedVersions(settings, updates),
    }
    return this.#maker.remake(task, parts, {})
  }

  async withProperties(collections: TenantCollections, task: TaskRecord, update: PropertiesUpdate): Promise<Draft> {
    const parts = await this.#maker.parts(collections, task)
    requireNodes(parts, update)
    const settings = withProperties(parts.settings, task.effective.tags, update)
    const { tags: _tags, ...sent } = update
    return this.#maker.remake(task, { ...parts, settings }, sent)
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
