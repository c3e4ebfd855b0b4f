import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { Hops } from '../../../src/host/cluster/hop.ts'

const clock = { now: 1_000_000 }
const hops = new Hops(Buffer.from('secret of all hosts'), () => clock.now)

it('contains the number of forwards, the term of the slot, and the client', () => {
  for (const hop of [
    { count: 1, term: 7, slot: 255, address: '2001:db8::1' },
    { count: 2, term: 0, slot: 0, address: '10.0.0.9' },
    { count: 1, term: 3 },
  ]) {
    expect(hops.read(hops.sign('POST', '/a?b', hop), 'POST', '/a?b')).toEqual(hop)
  }
})

it('is signed with HMAC and SHA-256, as hosts of all versions do', () => {
  const mark = hops.sign('POST', '/a?b=ü', { count: 1, term: 7 })
  const key = createHmac('sha256', 'secret of all hosts').update('reflexarc-hop').digest()
  const text = `${mark.slice(0, mark.lastIndexOf('.'))}\nPOST\n/a?b=ü`
  expect(mark.split('.').at(-1)).toBe(createHmac('sha256', key).update(text).digest('base64url'))
})

it('is valid for one method and address, for a short time', () => {
  const mark = hops.sign('GET', '/a', { count: 1, term: 7, slot: 3, address: '10.0.0.9' })
  const [count, term, slot, ms, , signature] = mark.split('.')
  const client = Buffer.from('10.0.0.8').toString('base64url')
  const wrong = [
    hops.read(mark, 'POST', '/a'),
    hops.read(mark, 'GET', '/b'),
    hops.read([count, term, slot, ms, client, signature].join('.'), 'GET', '/a'),
    hops.read([count, '8', ...mark.split('.').slice(2)].join('.'), 'GET', '/a'),
    hops.read([count, term, '4', ...mark.split('.').slice(3)].join('.'), 'GET', '/a'),
    new Hops(Buffer.from('another secret'), () => clock.now).read(mark, 'GET', '/a'),
    new Hops(Buffer.from('secret of all hosts'), () => clock.now + 40_000).read(mark, 'GET', '/a'),
  ]
  expect(wrong).toEqual(wrong.map(() => undefined))
})
