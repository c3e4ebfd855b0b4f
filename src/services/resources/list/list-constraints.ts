import type { Page } from '../../../kernel/page.ts'
import type { ConstraintRecord } from '../constraint-record.ts'
import type { ListQuery, ResourceEntity } from '../contract.ts'
import type { Room } from '../room.ts'

export async function listConstraints(
  room: Room,
  _query: ListQuery,
  show: (record: ConstraintRecord) => ResourceEntity,
): Promise<Page<ResourceEntity>> {
  const { constraints } = room.books
  const found = await constraints.find({ limit: 100 })
  return { values: found.map(({ value }) => show(value)), skip: 0, limit: 100, total: await constraints.count() }
}
