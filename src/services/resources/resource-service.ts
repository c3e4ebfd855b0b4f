/** Reads and writes resources. */
import { at, type Caller, isPlainObject, type Issue, refuse, refusedBy } from '#kernel'
import type { Attributes } from './attributes.ts'
import { commandPage } from './commands/command-log.ts'
import { changesOf } from './history.ts'
import { checkAttributes, issueOf } from './constraints/enforcement.ts'
import { COMMAND, RESERVED } from './constraints/reserved.ts'
import type { Cascades, ResourceApi, ResourceEntity, Versioned } from './contract.ts'
import { originsOf } from './denormalize.ts'
import { problem, resourceExists, resourceInUse, resourceNotFound } from './refusals.ts'
import { lackingTasks } from './managed-tasks/reconciler-record.ts'
import { listResources } from './list/list-resources.ts'
import { CASCADES, ResourceAttributes } from './resource-schema.ts'
import { checkId, patched, versionOf, withId, type ResourceWriter } from './resource-writer.ts'
import type { TenantResources } from './tenant-resources.ts'

export interface ResourceDependencies {
  readonly writer: ResourceWriter
  readonly cascades?: Cascades | undefined
  readonly removed?: ((id: string) => Promise<void>) | undefined
}

const SUBJECT = 'the resource'

export function resourceApi(
  { writer, cascades = {}, removed }: ResourceDependencies,
  tenantResources: TenantResources,
  caller: Caller,
): ResourceApi {
  const { collections } = tenantResources
  const write = async (...[written]: Parameters<typeof writeOf>) => {
    const result = await writer.write(writeOf(written))
    if (result === undefined) throw resourceNotFound(written.id)
    return result
  }
  const writeOf = (written: Omit<Parameters<ResourceWriter['write']>[0], 'caller'>) => ({ ...written, caller })
  const stored = async (id: string) => {
    const found = await collections.resources.get(id)
    if (found === undefined) throw resourceNotFound(id)
    return found
  }
  const shown = async (id: string): Promise<Versioned<ResourceEntity>> => {
    const found = await stored(id)
    return {
      value: tenantResources.show(found.value, await tenantResources.typeOf(found.value)),
      version: versionOf(found),
    }
  }

  return {
    create: async (body) => {
      const attributes = ResourceAttributes.read(body)
      const { id } = attributes
      if (id === undefined || id === null) throw refuse(SUBJECT, [problem('/id', 'is required')])
      const entity = withId({ ...attributes, id: null }, typeof id === 'string' ? id : '', SUBJECT)
      checkResource({ ...entity, id })
      return write({
        id: entity.id,
        step: (before) => {
          if (before !== undefined) throw resourceExists(entity.id)
          return entity
        },
      })
    },
    replace: async (id, body, options) => {
      const entity = withId(ResourceAttributes.read(body), id, SUBJECT)
      checkResource(entity)
      return write({ id, options, step: () => entity })
    },
    patch: async (id, body, { cause, ...options } = {}) => {
      const patch = ResourceAttributes.read(body)
      checkId(patch, id, SUBJECT)
      return write({
        id,
        options,
        cause,
        step: (before = { id }) => {
          const entity = patched(before, patch)
          checkResource(entity)
          return entity
        },
      })
    },
    remove: async (id, { cascade = [], ...options } = {}) => {
      await writer.write({
        caller,
        id,
        options,
        cascaded: cascade,
        step: async (before) => {
          if (before === undefined) throw resourceNotFound(id)
          const users = await usersOf(tenantResources, id)
          if (users > 0) throw resourceInUse(users)
          for (const name of CASCADES) if (cascade.includes(name)) await cascades[name]?.(id)
          await removed?.(id)
          return undefined
        },
      })
    },
    get: async (id, { denormalized = true } = {}) => {
      if (denormalized) return shown(id)
      const found = await stored(id)
      return { value: tenantResources.lastSeen.current(found.value.own), version: versionOf(found) }
    },
    list: (query) => listResources(tenantResources, query),
    children: async (id, query) => {
      await stored(id)
      return listResources(tenantResources, query, [{ field: 'parentId', op: 'eq', value: id }])
    },
    referrers: async (id, query) => {
      await stored(id)
      return listResources(tenantResources, query, [{ field: 'references', op: 'eq', value: id }])
    },
    changes: async (id, query) => {
      const page = await changesOf(tenantResources.collections.history, 'resource', id, query)
      if (page.total === 0) throw resourceNotFound(id)
      return page
    },
    commands: async (id, query) => {
      const page = await commandPage(collections.store, id, query)
      // commands to unknown resources are recorded too, so check existence only if there are none
      if (page.total === 0) await stored(id)
      return page
    },
    explain: async (id) => {
      const { value } = await stored(id)
      const type = await tenantResources.typeOf(value)
      const own = tenantResources.lastSeen.current(value.own)
      const origins = originsOf(own, type && { id: type.own.id, attributes: type.own })
      const lacking = type === undefined ? [] : await lackingTasks(collections.store, { resource: id })
      if (type === undefined || lacking.length === 0) return origins
      // `$lackingTasks` is a diagnosis rather than an attribute
      return [...origins, { attribute: '$lackingTasks', value: lacking, from: 'type', id: type.own.id }]
    },
  }
}

/** Each attribute that a patch sets must be valid by itself. */
export function issuesOfPatch(body: unknown): readonly Issue[] {
  return refusedBy(() => {
    const patch = ResourceAttributes.read(body)
    checkResource(patched({ id: 'any' }, patch))
  })
}

function checkResource(entity: Attributes): void {
  const issues: Issue[] = [...checkAttributes(RESERVED, entity), ...commandFailures(entity)].map(issueOf)
  if (issues.length > 0) throw refuse(SUBJECT, issues)
}

export function commandFailures(entity: Attributes): ReturnType<typeof checkAttributes> {
  const { commands } = entity
  if (!Array.isArray(commands)) return []
  return commands.flatMap((entry: unknown, i) =>
    Object.entries(isPlainObject(entry) ? entry : {}).flatMap(([name, command]) => {
      const path = at('/commands', i, name)
      if (!isPlainObject(command)) {
        return [{ path, keyword: 'type', message: `Property ${name} must be an object.`, value: command }]
      }
      return checkAttributes(COMMAND, command).map((failure) => ({ ...failure, path: `${path}${failure.path}` }))
    }),
  )
}

async function usersOf({ collections: { resources } }: TenantResources, id: string): Promise<number> {
  const child = { field: 'parentId', op: 'eq', value: id } as const
  const referrer = { field: 'references', op: 'eq', value: id } as const
  const other = { field: 'id', op: 'ne', value: id } as const
  const [children, referrers] = await Promise.all([resources.count([child, other]), resources.count([referrer, other])])
  const both = children > 0 && referrers > 0 ? await resources.count([child, referrer, other]) : 0
  return children + referrers - both
}
