import { expect, it } from 'vitest'
import { Network } from './world/network.ts'

it('a run that is over leaves no connection open, whichever side holds its ends', () => {
  const network = new Network()
  const [left, kept] = [network.open(), network.open()]
  left.leave()
  network.end()
  const ends = [left, kept].flatMap(({ host, client }) => [host.destroyed, client.destroyed])
  expect(ends).toEqual([true, true, true, true])
})
