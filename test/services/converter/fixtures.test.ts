/** Tests the payloads of real gateways that are part of the package. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../../support/repository.ts'
import { Conversions } from '../../../src/services/converter/conversion.ts'

const FOLDER = join(root, 'fixtures/converters')
const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')

const WANTED: Readonly<Record<string, object>> = {
  'lorawan-uplink': {
    metrics: [
      {
        resource: '70b3d57ed0051234',
        timestamp: '2025-11-22T14:20:05.123Z',
        temperature: 25.3,
        humidity: 62,
        rssi: -81,
        snr: 9.5,
        frame: 1042,
      },
    ],
    metadata: [{ resource: '70b3d57ed0051234', name: 'boiler room', profile: 'TH-100' }],
  },
  'modbus-bridge': {
    metrics: [
      { resource: 'mb-01/1', timestamp: 1_763_821_205_000, voltage: 230.4, power: -420.5, energy: 1_214_112 },
      { resource: 'mb-01/2', timestamp: 1_763_821_205_000, outside: -19, alarms: 3 },
    ],
  },
  'senml-pack': {
    metrics: [
      {
        resource: 'urn:dev:ow:10e2073a01080063',
        timestamp: 1_763_821_205_000,
        temperature: 23.5,
        humidity: 67,
        door: true,
      },
      { resource: 'urn:dev:ow:10e2073a01080063', timestamp: 1_763_821_145_000, temperature: 23.1 },
      { resource: 'urn:dev:ow:10e2073a01080064', timestamp: 1_763_821_205_000, label: 'cellar' },
    ],
  },
  'sigfox-callback': {
    metrics: [
      {
        resource: 'sigfox-1D3A5F',
        timestamp: 1_763_821_205_000,
        battery: 3.3,
        temperature: 21.8,
        moved: true,
        rssi: -112,
      },
    ],
    metadata: [{ resource: 'sigfox-1D3A5F', deviceType: '5fc4a1b2c3d4' }],
  },
}

describe('the converters that come with the package', () => {
  it('all have tests', () => {
    const names = readdirSync(FOLDER).filter((file) => file.endsWith('.vm'))
    expect(names.map((file) => file.replace('.vm', '')).toSorted()).toEqual(Object.keys(WANTED).toSorted())
  })

  it.each(['1.7', '2.4'] as const)('convert their payloads to the messages of Velocity %s', (compat) => {
    for (const [name, wanted] of Object.entries(WANTED)) {
      const payload: unknown = JSON.parse(read(`${name}.payload.json`))
      const converted = new Conversions(() => 0).convert({ template: read(`${name}.vm`), compat }, { payload })
      expect(converted, name).toEqual(wanted)
    }
  })

  it('accept payloads decoded by a LoRaWAN server', () => {
    const payload = JSON.parse(read('lorawan-uplink.payload.json')) as object
    const decoded = { ...payload, object: { temperature: 19.5, co2: 640 } }
    const { metrics } = new Conversions(() => 0).convert({ template: read('lorawan-uplink.vm') }, { payload: decoded })
    expect(metrics[0]).toMatchObject({ temperature: 19.5, co2: 640, rssi: -81 })
  })
})
