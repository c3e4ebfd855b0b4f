import type { Page } from '../../../kernel/page.ts'
import type { Condition } from '../../../storage/contract.ts'
import type { ListQuery, ResourceEntity } from '../contract.ts'
import type { Room } from '../room.ts'

export async function listResources(
  room: Room,
  _query: ListQuery,
  among: readonly Condition[] = [],
): Promise<Page<ResourceEntity>> {
  const found = await room.books.resources.find({ where: among, limit: 100 })
  const values = await Promise.all(found.map(async ({ value }) => room.show(value, await room.typeOf(value))))
  return { values, skip: 0, limit: 100, total: await room.books.resources.count(among) }
}
