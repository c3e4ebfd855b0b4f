import { describe, expect, it } from 'vitest'
import { TenantCalls } from '../../../src/services/webscripts/tenant-calls.ts'

describe('calls of a tenant', () => {
  it('are so many at once, whatever another tenant does', () => {
    const calls = new TenantCalls({ takeCall: () => 0, mostOpen: 2 })
    const first = calls.take('acme')
    calls.take('acme')
    expect(() => calls.take('acme')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
    calls.take('umbrella')
    first()
    // an end that is told twice is one
    first()
    calls.take('acme')
    expect(() => calls.take('acme')).toThrow(/2 calls of webscripts are open/)
  })

  it('are so many in a second, and one that is refused is not open', () => {
    let wait = 0
    const calls = new TenantCalls({ takeCall: () => wait, mostOpen: 1 })
    wait = 3
    expect(() => calls.take('acme')).toThrow(/go on in 3 s/)
    wait = 0
    expect(calls.take('acme')).toBeTypeOf('function')
  })
})
