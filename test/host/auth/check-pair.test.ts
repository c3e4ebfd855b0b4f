import { expect, it } from 'vitest'
import { checkPairs } from '../../../src/host/auth/check-pair.ts'
import { KeyChanges } from '../../../src/host/auth/key-changes.ts'
import { KEY_RECORDS, ApiKeys } from '../../../src/host/auth/api-keys.ts'
import type { Presence } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

const unchanged = () => new KeyChanges({}, { elapsed: () => 1, isMember: false })

it('a pair outside of HTTP is valid or wrong, and too many attempts are rejected', async () => {
  const now = () => 1000
  const pairs = new ApiKeys(openMemory().tenant('_host').collection(KEY_RECORDS), now, 16)
  await pairs.add({ key: 'k', secret: 's', tenant: 'acme' })
  const check = checkPairs(pairs, now, unchanged())
  expect(await check('k', 's', '10.0.0.1')).toMatchObject({ tenant: 'acme', user: 'k' })
  await pairs.remove('k')
  // checks are remembered for a minute
  expect(await check('k', 's', '10.0.0.1')).toMatchObject({ tenant: 'acme', user: 'k' })
  for (let i = 0; i < 20; i++) expect(await check('k', 'wrong', '10.0.0.2')).toBeUndefined()
  await expect(check('k', 'wrong', '10.0.0.2')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(await check('k', 'wrong', '10.0.0.3')).toBeUndefined()
})

it('a removed pair counts as a guess', async () => {
  const clock = { now: 1000 }
  const pairs = new ApiKeys(openMemory().tenant('_host').collection(KEY_RECORDS), () => clock.now, 16)
  await pairs.add({ key: 'k', secret: 's', tenant: 'acme' })
  const check = checkPairs(pairs, () => clock.now, unchanged())
  await check('k', 's', '10.0.0.1')
  await pairs.remove('k')
  clock.now += 60_000
  // the first attempt still counts as valid before
  for (let i = 0; i < 21; i++) expect(await check('k', 's', '10.0.0.1')).toBeUndefined()
  await expect(check('k', 's', '10.0.0.1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

it('a host that is notified of changes rejects a removed pair at once, and keeps the others cached', async () => {
  const clock = { now: 1000 }
  let heard: (word: string | undefined) => void = () => undefined
  const presence = { onNotification: (listener: typeof heard) => void (heard = listener), notificationLag: 0 }
  const pairs = new ApiKeys(openMemory().tenant('_host').collection(KEY_RECORDS), () => 1000, 16)
  await pairs.add({ key: 'gone', secret: 's', tenant: 'acme' })
  await pairs.add({ key: 'kept', secret: 's', tenant: 'acme' })
  let hashes = 0
  const counted: ApiKeys = Object.assign(Object.create(pairs) as ApiKeys, {
    check: (...given: Parameters<ApiKeys['check']>) => ((hashes += 1), pairs.check(...given)),
    again: (...given: Parameters<ApiKeys['again']>) => pairs.again(...given),
  })
  const changes = new KeyChanges(
    { presence: presence as unknown as Presence },
    { elapsed: () => (clock.now += 1), isMember: true },
  )
  const check = checkPairs(counted, () => 1000, changes)
  const both = async (): Promise<readonly unknown[]> => [
    await check('gone', 's', '::1'),
    await check('kept', 's', '::1'),
  ]
  const acme = expect.objectContaining({ tenant: 'acme' }) as unknown
  expect(await both()).toEqual([acme, acme])
  await pairs.remove('gone')
  expect(await both()).toEqual([acme, acme])
  heard('gone')
  expect(await both()).toEqual([acme, acme])
  heard('keys')
  expect(await both()).toEqual([undefined, acme])
  await pairs.remove('kept')
  // the pair is unchanged, but an announcement may have been missed
  presence.notificationLag = 1_001
  expect(await both()).toEqual([undefined, undefined])
  // two hashes for the new pairs, one after `gone` was removed, one after `kept` was removed, and one more for `gone`
  expect(hashes).toBe(5)
})
