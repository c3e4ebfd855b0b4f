import { expect, it } from 'vitest'
import { checkPairs } from '../../../src/host/auth/check-pair.ts'
import { KEY_RECORDS, ApiKeys } from '../../../src/host/auth/api-keys.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

it('a pair outside of HTTP is known, or is wrong, and too many tries are refused', async () => {
  const now = () => 1000
  const pairs = new ApiKeys(openMemory().tenant('_host').collection(KEY_RECORDS), now, 16)
  await pairs.add({ key: 'k', secret: 's', tenant: 'acme' })
  const check = checkPairs(pairs, now)
  expect(await check('k', 's', '10.0.0.1')).toMatchObject({ tenant: 'acme', user: 'k' })
  await pairs.remove('k')
  // remembered for a minute
  expect(await check('k', 's', '10.0.0.1')).toMatchObject({ tenant: 'acme', user: 'k' })
  for (let i = 0; i < 20; i++) expect(await check('k', 'wrong', '10.0.0.2')).toBeUndefined()
  await expect(check('k', 'wrong', '10.0.0.2')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(await check('k', 'wrong', '10.0.0.3')).toBeUndefined()
})

it('a pair that was good and is taken away is a guess again', async () => {
  const clock = { now: 1000 }
  const pairs = new ApiKeys(openMemory().tenant('_host').collection(KEY_RECORDS), () => clock.now, 16)
  await pairs.add({ key: 'k', secret: 's', tenant: 'acme' })
  const check = checkPairs(pairs, () => clock.now)
  await check('k', 's', '10.0.0.1')
  await pairs.remove('k')
  clock.now += 60_000
  // the first one is taken for what was good
  for (let i = 0; i < 21; i++) expect(await check('k', 's', '10.0.0.1')).toBeUndefined()
  await expect(check('k', 's', '10.0.0.1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})
