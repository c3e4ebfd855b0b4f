/** What a stored task would become by a reload or an update; nothing is changed. */
import type { PluginUpdate, PropertiesUpdate } from './batch-schema.ts'
import type { Books } from './books.ts'
import { reloadRefused, unknownTemplate } from './error-texts.ts'
import { withUpdatedPlugs } from './plug-versions.ts'
import type { SourceShelf } from './source-shelf.ts'
import type { Draft, TaskMaker } from './task-maker.ts'
import type { TaskRecord } from './task-record.ts'
import { withPinnedVersions, withProperties } from './task-settings-update.ts'

export class TaskDrafts {
  readonly #maker: TaskMaker
  readonly #shelf: SourceShelf

  constructor(maker: TaskMaker, shelf: SourceShelf) {
    this.#maker = maker
    this.#shelf = shelf
  }

  /** What a task would be after a reload. Throws `WRONG_STATUS` for a task without a template. */
  async reloaded(books: Books, task: TaskRecord): Promise<Draft> {
    if (task.template === undefined) throw reloadRefused(task.id)
    const stored = await books.templates.get(task.template)
    if (stored === undefined) throw unknownTemplate(task.template)
    const source = this.#shelf.ofTemplate(books, stored)
    return this.#maker.remake(task, { source, rule: undefined, settings: task.settings })
  }

  async withUpdates(books: Books, task: TaskRecord, updates: readonly PluginUpdate[]): Promise<Draft> {
    const { source, rule, settings } = await this.#maker.parts(books, task)
    const parts = {
      source: source && this.#shelf.of(books, withUpdatedPlugs(source.document, updates)),
      rule: rule && withUpdatedPlugs(rule, updates),
      settings: withPinnedVersions(settings, updates),
    }
    return this.#maker.remake(task, parts)
  }

  async withProperties(books: Books, task: TaskRecord, update: PropertiesUpdate): Promise<Draft> {
    const parts = await this.#maker.parts(books, task)
    return this.#maker.remake(task, { ...parts, settings: withProperties(parts.settings, task.effective.tags, update) })
  }
}
