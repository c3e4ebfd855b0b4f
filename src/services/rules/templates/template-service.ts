/** Manages templates; a change affects existing tasks only when they are reloaded. */
import type { Template } from '#core'
import { isBnDocument } from '#core/spi'
import { AppError, type Caller, isPlainObject, requireScope, requireVersion, validationError } from '#kernel'
import { eachWith } from '#platform'
import type { Stored } from '#storage'
import type { RulesCollections } from '../collections.ts'
import type { TemplateApi } from '../contract.ts'
import { refusalText } from '../error-body.ts'
import { duplicateTemplate, invalid, NAME_MISMATCH } from '../error-texts.ts'
import type { GraphForms, WireGraph } from '../tasks/graph-forms.ts'
import { missingVersions, withUpdatedPlugs } from '../tasks/plug-versions.ts'
import type { DraftOptions, PostOptions } from './post-checks.ts'
import { publishVersion } from './publish-version.ts'
import { changingTemplate, checkName, readTemplate, templateOf } from './read-template.ts'
import type { GraphFormat } from '../shared-schema.ts'
import { taskConditions } from '../tasks/task-conditions.ts'
import { batchApi } from '../batches/batch-service.ts'
import { type Rehearse, rehearsedTemplate } from '../rehearsals/rehearse-change.ts'
import type { TenantRules } from '../tenant-rules.ts'
import type { TemplateRecord } from './template-record.ts'
import {
  removeOldVersions,
  inVersion,
  draftWrites,
  writesForOldVersion,
  listVersions,
  markOf,
  nextNumber,
  nextVersion,
  versionOf,
} from './template-versions.ts'
import { type TemplateEntity, TemplateUpgrade, type UpgradedTemplates } from './template-schema.ts'

const MAX_UPGRADED = 1000

export function templateApi(rules: TenantRules, caller: Caller, rehearse: Rehearse): TemplateApi {
  const { collections, maker, forms } = rules
  const { now } = rules.options
  /** `revision` is absent for an older version. */
  const show = (record: TemplateRecord, revision: number | undefined, format?: GraphFormat): TemplateEntity => ({
    ...metadata(record, revision),
    ...(format && graphOf(record.document, format, forms)),
  })
  const change = <T>(name: string, work: () => Promise<T>): Promise<T> => changingTemplate(rules, name, work)
  const read = (specification: unknown, options?: PostOptions) => readTemplate(rules, specification, options)
  const put = async ({ value, version }: Stored<TemplateRecord>, next: TemplateRecord): Promise<number | undefined> => {
    const name = next.document.name
    const { results } = await collections.commit([
      collections.templates.putting(name, next, version),
      ...(await writesForOldVersion(collections, value, next)),
    ])
    return results[0]
  }

  return {
    create: async (specification, options) => {
      requirePublish(caller, options)
      const { document, plugs, isProtected, warned } = await read(specification, options)
      const { name } = document
      const record: TemplateRecord = {
        document,
        ...firstVersion(caller, now(), options),
        ...(isProtected !== undefined && { protected: isProtected }),
        plugs,
      }
      const revision = await change(name, () => createTemplate(collections, name, record))
      const isBn = isPlainObject(specification) && isBnDocument(specification)
      const entity = show(record, revision, isBn ? 'bn' : 'simplified')
      return { statusCode: 201, uri: `/api/templates/${encodeURIComponent(name)}`, entity, ...warned }
    },
    replace: (name, specification, options) =>
      change(name, async () => {
        requirePublish(caller, options)
        const stored = await templateOf(collections, name)
        requireVersion(`Template ${name}`, stored.version, options?.ifRevision)
        const { document, plugs, isProtected, warned } = await read(specification, options)
        if (document.name !== name)
          throw invalid("Path name and submitted template name don't match", NAME_MISMATCH, '/name')
        const rehearsed = await rehearsedTemplate(rules, rehearse, document, options?.rehearse)
        if (options?.draft === true) {
          const mark = { ...markOf(nextNumber(stored.value), caller, now(), options.note), draft: true }
          const { results } = await collections.commit(draftWrites(collections, stored, document, mark))
          const draft = { ...stored.value, document, version: mark, lastUpdateTime: mark.createTime }
          return { ...show(draft, results[0], 'simplified'), ...warned, ...rehearsed }
        }
        const next: TemplateRecord = {
          ...changed(stored.value, document, caller, now(), options?.note),
          ...(isProtected !== undefined && { protected: isProtected }),
          plugs,
        }
        return { ...show(next, await put(stored, next), 'simplified'), ...warned, ...rehearsed }
      }),
    remove: async (name, { ifRevision } = {}) => {
      await change(name, () =>
        rules.templateLock.exclusive(name, async () => {
          const { version } = await templateOf(collections, name)
          requireVersion(`Template ${name}`, version, ifRevision)
          const tasks = await collections.tasks.count([{ field: 'template', op: 'eq', value: name }])
          if (tasks > 0) throw new AppError('WRONG_STATUS', `Template with name ${name} in use by ${tasks} task(s)`)
          await collections.commit([
            collections.templates.deleting(name, version),
            ...(await removeOldVersions(collections, name)),
          ])
        }),
      )
      rules.templateRemoved(name)
    },
    publish: async (name, number, options) => {
      const { record, revision, warned } = await publishVersion(rules, name, number, caller, {
        ...options,
        isDraft: true,
      })
      return { ...show(record, revision, 'simplified'), ...warned }
    },
    copy: async (name, newName) => {
      checkName(newName)
      const { value } = await templateOf(collections, name)
      const { discoveryTemplate: _mark, ...kept } = value
      const record: TemplateRecord = {
        ...kept,
        document: { ...value.document, name: newName },
        ...firstVersion(caller, now()),
      }
      return show(record, await change(newName, () => createTemplate(collections, newName, record)), 'simplified')
    },
    get: async (name, format = 'bn', number) => {
      const { value, version } = await templateOf(collections, name)
      const record = await inVersion(collections, value, number)
      return show(record, record === value ? version : undefined, format)
    },
    versions: async (name, page) => listVersions(collections, (await templateOf(collections, name)).value, page),
    list: async ({ where, hits, startIndex, format, includeGraph }) => {
      const conditions = taskConditions(where)
      const [found, total] = await Promise.all([
        hits === 0 ? [] : collections.templates.find({ where: conditions, offset: startIndex, limit: hits }),
        collections.templates.count(conditions),
      ])
      const values = found.map(({ value, version }) => show(value, version, includeGraph ? format : undefined))
      return { values, skip: startIndex, limit: hits, total }
    },
    upgrade: async (where, upgrade) => {
      const { updates, reloadTasks } = TemplateUpgrade.read(upgrade)
      const wrong = missingVersions(updates, maker.plugs, '/updates')
      if (wrong.length > 0) throw validationError('the upgrade', wrong)
      const found = await collections.templates.find({ where: taskConditions(where), limit: MAX_UPGRADED })
      const outcome = await upgradeAll(
        found.map(({ value }) => value.document.name),
        (name) =>
          change(name, async () => {
            const stored = await templateOf(collections, name)
            const updated = withUpdatedPlugs(stored.value.document, updates)
            // an upgrade would publish a template that is only a draft
            if (updated === stored.value.document || versionOf(stored.value).draft === true) return
            const { document, plugs } = await read(updated)
            await put(stored, { ...changed(stored.value, document, caller, now()), plugs })
          }),
      )
      if (reloadTasks === true)
        for (const template of outcome.successful) {
          await batchApi(rules, caller, rehearse).queue({ entity: 'task', action: 'reload', query: { template } })
        }
      return outcome
    },
    discovery: async (format = 'bn') => {
      const marked = await discoveryTemplates(collections)
      const [first] = marked
      if (first === undefined) throw new AppError('NOT_FOUND', 'No discovery template is set')
      return show(first.value, first.version, format)
    },
    setDiscovery: (name) =>
      change(name, async () => {
        const stored = await templateOf(collections, name)
        const others = (await discoveryTemplates(collections)).filter(({ id }) => id !== name)
        const unmarked = others.map(({ id, version, value: { discoveryTemplate: _mark, ...kept } }) =>
          collections.templates.putting(id, kept, version),
        )
        const marked = collections.templates.putting(name, { ...stored.value, discoveryTemplate: true }, stored.version)
        await collections.commit([...unmarked, marked])
      }),
    run: (name, run, options) => eachWith(caller.rights, runLater(rules, name, run, options)),
  }
}

function requirePublish({ rights }: Caller, { draft = false }: DraftOptions = {}): void {
  if (!draft && rights !== undefined) requireScope(rights, 'publish')
}

function firstVersion(
  caller: Caller,
  now: number,
  { draft = false, note }: DraftOptions = {},
): Pick<TemplateRecord, 'user' | 'createTime' | 'lastUpdateTime' | 'version'> {
  const version = { ...markOf(1, caller, now, note), ...(draft && { draft }) }
  return { user: caller.user, createTime: now, lastUpdateTime: now, version }
}

function changed(
  record: TemplateRecord,
  document: Template,
  caller: Caller,
  now: number,
  note?: string,
): TemplateRecord {
  const version = nextVersion(record, document, caller, now, note)
  return { ...record, document, lastUpdateTime: now, version }
}

async function* runLater(
  { collections, direct }: TenantRules,
  ...[name, run, options]: Parameters<TemplateApi['run']>
): ReturnType<TemplateApi['run']> {
  const { version, ...others } = options ?? {}
  if (name === undefined) {
    yield* direct.run(undefined, run, others)
    return
  }
  const record = await inVersion(collections, (await templateOf(collections, name)).value, version)
  const owner = `template ${JSON.stringify(name)} (version ${versionOf(record).number})`
  yield* direct.run({ document: record.document, owner }, run, others)
}

/** Stores a new template and returns its revision. Another host may have created the template meanwhile. */
async function createTemplate(collections: RulesCollections, name: string, record: TemplateRecord): Promise<number> {
  if ((await collections.templates.get(name)) !== undefined) throw duplicateTemplate(name)
  try {
    return await collections.templates.put(name, record, 'absent')
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') throw duplicateTemplate(name)
    throw error
  }
}

async function upgradeAll(
  names: readonly string[],
  upgrade: (name: string) => Promise<void>,
): Promise<UpgradedTemplates> {
  const successful: string[] = []
  const failed: { templateName: string; error: string }[] = []
  for (const name of names) {
    try {
      await upgrade(name)
      successful.push(name)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      failed.push({ templateName: name, error: refusalText(error) })
    }
  }
  return failed.length === 0 ? { successful } : { successful, failed }
}

function discoveryTemplates(collections: RulesCollections): Promise<readonly Stored<TemplateRecord>[]> {
  return collections.templates.find({ where: [{ field: 'discovery', op: 'eq', value: 'true' }], limit: 10 })
}

function metadata(record: TemplateRecord, revision: number | undefined): TemplateEntity {
  const { name, description, iconURL, tags = {}, variables, taskDefaults } = record.document
  const { number, draft, note } = versionOf(record)
  return {
    name,
    version: number,
    ...(draft === true && { draft }),
    ...(note !== undefined && { note }),
    ...(revision !== undefined && { revision }),
    ...(description !== undefined && { description }),
    ...(iconURL !== undefined && { iconURL }),
    tags,
    ...(variables && { variables }),
    ...(taskDefaults && { taskDefaults: { ...taskDefaults } }),
    ...(record.protected !== undefined && { protected: record.protected }),
    discoveryTemplate: record.discoveryTemplate === true,
    user: record.user,
    createTime: record.createTime,
    lastUpdateTime: record.lastUpdateTime,
  }
}

function graphOf(document: Template, format: GraphFormat, forms: GraphForms): WireGraph {
  const { name: _name, ...graph } = forms.of(document, [], format)
  return graph
}
