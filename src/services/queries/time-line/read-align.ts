/** How a query lays its time line on a grid (`align`). */
import { IANAZone } from 'luxon'
import { type Issues, ownValue, shown } from '#kernel'

export const ALIGN_AT = ['grid', 'boundary', 'from', 'until'] as const
export const ALIGN_SHIFT = ['backward', 'forward', 'wrap'] as const

export interface Align {
  /** what the grid goes through: 1970, or an end of the range */
  readonly at: (typeof ALIGN_AT)[number]
  /** where the ends of the range go; undefined: as the range says (`resolveTimeLine`) */
  readonly shift: (typeof ALIGN_SHIFT)[number] | undefined
  /** as `Zone` of luxon takes it: days, weeks and months are those of its calendar */
  readonly zone: string | undefined
}

const OFFSET = /^[+-](?:0\d|1[0-4]):?[0-5]\d$/
const ZONE_FORMS = 'write an IANA name such as Europe/Brussels, or an offset such as +02:00'

/** The schema has seen to words; what it cannot say is checked here. */
export function readAlign(align: unknown, issues: Issues): Align {
  const at = (ownValue(align, 'at') ?? 'grid') as Align['at']
  const shift = ownValue(align, 'shift') as Align['shift']
  const zone = readZone(ownValue(align, 'timezone'), issues)
  if (ownValue(align, 'freq') !== undefined) {
    issues.wrong('/align/freq', 'a grid other than that of freq is not supported', 'leave it out')
  }
  return { at, shift, zone }
}

/** Undefined when there is none, or it is wrong: then the issues know. */
function readZone(zone: unknown, issues: Issues): string | undefined {
  if (zone === undefined || zone === null) return undefined
  if (typeof zone === 'string') {
    if (/^(?:Z|UTC|GMT)$/i.test(zone)) return 'UTC'
    if (OFFSET.test(zone)) return `UTC${zone.slice(0, 3)}:${zone.slice(-2)}`
    if (IANAZone.isValidZone(zone)) return zone
  }
  return issues.wrong('/align/timezone', `${shown(zone)} is no time zone`, ZONE_FORMS)
}
