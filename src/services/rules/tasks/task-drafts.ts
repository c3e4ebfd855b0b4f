/** What a stored task would become by a reload or an update; nothing is changed. */
import { applyOverrides, Report } from '#core/spi'
import { validationError } from '#kernel'
import type { PluginUpdate, PropertiesUpdate } from '../batches/batch-schema.ts'
import type { TenantCollections } from '../collections.ts'
import { reloadRefused } from '../error-texts.ts'
import { withUpdatedPlugs } from './plug-versions.ts'
import type { SourceRepository } from './source-repository.ts'
import type { Draft, RunnableSource, TaskMaker } from './task-maker.ts'
import type { TaskRecord } from './task-record.ts'
import { withPinnedVersions, withProperties } from './task-settings-update.ts'

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
