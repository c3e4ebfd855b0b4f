/** Expands selections of resources into columns: one per resource, or per group of resources. */
import { AppError, type Json, ownValue } from '#kernel'
import type { ResourceSelector, SelectedResource } from '../contract.ts'
import { ownerOf, type ColumnPlan, type SeriesPlan, type SeriesSource } from './plan.ts'
import { MAX_SERIES } from './query-schema.ts'

export interface Expansion {
  readonly columns: readonly ColumnPlan[]
  readonly notes: readonly string[]
}

type Selected = Extract<SeriesSource, { readonly kind: 'selected' }>

/** Throws `TOO_LARGE` above 1,000 columns, and errors of the resources service about the selection. */
export async function expand(
  series: readonly SeriesPlan[],
  selector: ResourceSelector | undefined,
): Promise<Expansion> {
  const notes: string[] = []
  const columns: ColumnPlan[] = []
  for (const { source, ...one } of series) {
    const owners = source.kind === 'listed' ? listed(source.resources) : await selected(source, selector, notes)
    for (const owner of owners) columns.push({ ...one, ...owner })
    if (columns.length > MAX_SERIES) {
      throw new AppError('TOO_LARGE', `the query has more than ${MAX_SERIES} series; select fewer resources`)
    }
  }
  return { columns: distinctColumns(columns), notes }
}

type SeriesOwner = Pick<ColumnPlan, 'label' | 'resources'>

function listed(resources: readonly string[]): readonly SeriesOwner[] {
  return resources.map((resource) => ({ label: { resource }, resources: [resource] }))
}

async function selected(
  { selection, groupBy }: Selected,
  selector: ResourceSelector | undefined,
  notes: string[],
): Promise<readonly SeriesOwner[]> {
  if (selector === undefined) throw new AppError('CLOSED', 'this host does not serve resources to select from')
  const found = await selector.select(selection, MAX_SERIES + 1)
  if (found.length > MAX_SERIES) {
    throw new AppError('TOO_LARGE', `the selection finds more than ${MAX_SERIES} resources; select fewer`)
  }
  if (groupBy.length === 0) return listed(found.map(({ id }) => id))
  const groups = new Map<string, string[]>()
  let without = 0
  for (const resource of found) {
    const key = groupOf(resource, groupBy)
    if (key === undefined) without += 1
    else groups.set(key, [...(groups.get(key) ?? []), resource.id])
  }
  if (without > 0) notes.push(`${without} resources are outside of all groups: they lack ${groupBy.join(' or ')}`)
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, resources]) => ({ label: { group }, resources }))
}

function groupOf(resource: SelectedResource, groupBy: readonly string[]): string | undefined {
  const values = groupBy.map((key) => textOf(ownValue(resource, key) as Json | undefined))
  return values.every((value) => value !== undefined) ? values.join('/') : undefined
}

function textOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Removes columns that occur in a list of resources as well as in a selection. */
function distinctColumns(columns: readonly ColumnPlan[]): readonly ColumnPlan[] {
  const keyOf = (column: ColumnPlan): string =>
    JSON.stringify([
      'group' in column.label,
      ownerOf(column),
      column.metric,
      column.aggregation?.name ?? null,
      column.interpolation === undefined ? null : (column.name ?? null),
    ])
  return [...new Map(columns.toReversed().map((column) => [keyOf(column), column])).values()].toReversed()
}
