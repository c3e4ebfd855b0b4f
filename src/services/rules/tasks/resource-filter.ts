/** Tasks selected by what their resources are: the two filters that only a keeper of resources can answer. */
import { AppError, type Issue, makeIssue, refuse } from '#kernel'
import type { TaskFilter } from './task-schema.ts'

/** What the filters ask of whoever keeps resources. */
export interface ResourceFinder {
  /**
   * Ids of the resources that match all of it, at most `limit` of them. `VALIDATION` for an expression that
   * cannot be read.
   */
  find(wanted: WantedResources, limit: number): Promise<readonly string[]>
}

export interface WantedResources {
  /** id of the resource type */
  readonly type?: string
  /** over the metadata, in the language of the finder */
  readonly expression?: string
}

interface WithFinder {
  /** without it the host serves no resources */
  readonly options: { readonly resources?: () => ResourceFinder | undefined }
}

/** Resources that one question may mean. */
export const MAX_RESOURCES = 10_000

const NAMES = ['resourceType', 'resourceMetadataExpression'] as const

/**
 * The filter with the resources themselves in place of what describes them. Throws `VALIDATION` when nobody keeps
 * resources here, `TOO_LARGE` when there are too many. `place`: where the filter stands in the request.
 */
export async function withResources(where: TaskFilter, { options }: WithFinder, place: string): Promise<TaskFilter> {
  const { resourceType: type, resourceMetadataExpression: expression, ...others } = where
  if (type === undefined && expression === undefined) return where
  const finder = options.resources?.()
  if (finder === undefined)
    throw refuse(
      'the query',
      NAMES.flatMap((name) => nobodyKnows(where, name, place)),
    )
  const wanted = { ...(type !== undefined && { type }), ...(expression !== undefined && { expression }) }
  const resources = await finder.find(wanted, MAX_RESOURCES + 1)
  if (resources.length > MAX_RESOURCES) {
    throw new AppError('TOO_LARGE', `More than ${MAX_RESOURCES} resources fit; narrow the filters of resources`)
  }
  return { ...others, resources }
}

function nobodyKnows(where: TaskFilter, name: (typeof NAMES)[number], place: string): readonly Issue[] {
  if (where[name] === undefined) return []
  const message = 'this host does not serve resources, so it cannot select tasks by what they are'
  const suggestion = 'name the resource with resource=<id>'
  return [makeIssue('QUERY', `${place}/${name}`, message, suggestion)]
}
