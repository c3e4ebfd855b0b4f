import type { Page } from '../../../kernel/page.ts'
import type { ListQuery, ResourceEntity } from '../contract.ts'
import type { Room } from '../room.ts'
import type { TypeRecord } from '../type-record.ts'

export async function listTypes(
  room: Room,
  _query: ListQuery,
  show: (record: TypeRecord) => ResourceEntity,
): Promise<Page<ResourceEntity>> {
  const found = await room.books.types.find({ limit: 100 })
  return { values: found.map(({ value }) => show(value)), skip: 0, limit: 100, total: await room.books.types.count() }
}
