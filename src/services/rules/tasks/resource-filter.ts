/** Filters tasks by the type and metadata of their resources. */
import { AppError, type Issue, makeIssue, refuse } from '#kernel'
import type { TaskFilter } from './task-schema.ts'

export interface ResourceFinder {
  find(wanted: WantedResources, limit: number): Promise<readonly string[]>
}

export interface WantedResources {
  readonly type?: string
  readonly expression?: string
}

interface WithFinder {
  readonly options: { readonly resources?: () => ResourceFinder | undefined }
}

export const MAX_RESOURCES = 10_000

const NAMES = ['resourceType', 'resourceMetadataExpression'] as const

/** Throws `VALIDATION` on a host without the resources service, and `TOO_LARGE` if too many match. */
export async function withResources(where: TaskFilter, { options }: WithFinder, path: string): Promise<TaskFilter> {
  const { resourceType: type, resourceMetadataExpression: expression, ...others } = where
  if (type === undefined && expression === undefined) return where
  const finder = options.resources?.()
  if (finder === undefined)
    throw refuse(
      'the query',
      NAMES.flatMap((name) => unanswerable(where, name, path)),
    )
  const wanted = { ...(type !== undefined && { type }), ...(expression !== undefined && { expression }) }
  const resources = await finder.find(wanted, MAX_RESOURCES + 1)
  if (resources.length > MAX_RESOURCES) {
    throw new AppError('TOO_LARGE', `More than ${MAX_RESOURCES} resources match; narrow the filters of resources`)
  }
  return { ...others, resources }
}

function unanswerable(where: TaskFilter, name: (typeof NAMES)[number], path: string): readonly Issue[] {
  if (where[name] === undefined) return []
  const message = 'this host does not serve resources, so it cannot select tasks by attributes of resources'
  const suggestion = 'name the resource with resource=<id>'
  return [makeIssue('QUERY', `${path}/${name}`, message, suggestion)]
}
