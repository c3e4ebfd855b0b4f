/** Counts locations within a circle: boxes along strips of latitude count most, only those near the edge are measured. */
import type { Condition } from '#storage'

export interface Circle {
  readonly center: Point
  readonly metres: number
}

export interface CutCircle {
  readonly around: Condition
  readonly inside: Condition | undefined
  /** boxes whose places must be measured, unless they are also in `inside` */
  readonly edge: Condition
  isInside(point: Point): boolean
}

const STRIPS = 16
/** A relative tolerance, also used in degrees; larger than rounding errors. */
const TOLERANCE = 1e-6
/** Fraction of the distance by which the edge is widened against rounding. */
const SLACK = 1e-9

export function isWithin({ center, metres }: Circle, point: Point): boolean {
  return distanceM(center, point) <= metres * (1 + SLACK)
}

export function aroundCircle({ center, metres }: Circle): Condition {
  return boxCondition(boxAround(center, metres))
}

/** undefined where strips are not boxes: over a pole, across the date line, or over a large part of the globe */
export function cutCircle(circle: Circle): CutCircle | undefined {
  const { center, metres } = circle
  const { south, north, west, east } = boxAround(center, metres)
  if (west > east || east - west > 180 || south <= -90 || north >= 90) return undefined
  // neighbouring strips share the same number, so that rounding leaves no gap between them
  const lines = Array.from({ length: STRIPS + 1 }, (_, i) => south + (i * (north - south)) / STRIPS)
  const { lat, lon } = center
  const widest = (Math.asin(Math.sin(radians(lat)) / Math.cos(metres / EARTH_RADIUS_M)) * 180) / Math.PI
  const inner: Box[] = []
  const edge: Box[] = []
  for (const [i, low] of lines.entries()) {
    const high = i === STRIPS - 1 ? north : lines[i + 1]
    if (high === undefined) break
    const reach = [reachAt(circle, low), reachAt(circle, high)] as const
    const sure = Math.min(...reach) * (1 - TOLERANCE)
    const most = Math.max(...reach) * (1 + TOLERANCE) + TOLERANCE
    const isWidest = low <= widest && widest <= high
    const [from, to] = isWidest ? [west, east] : [Math.max(west, lon - most), Math.min(east, lon + most)]
    const strip = { south: low, north: high }
    if (sure <= 0) edge.push({ ...strip, west: from, east: to })
    else {
      inner.push({ ...strip, west: lon - sure, east: lon + sure })
      edge.push({ ...strip, west: from, east: lon - sure }, { ...strip, west: lon + sure, east: to })
    }
  }
  return {
    around: aroundCircle(circle),
    inside: inner.length === 0 ? undefined : anyOf(inner),
    edge: anyOf(edge),
    isInside: (point) =>
      inner.some(
        (box) => point.lat >= box.south && point.lat <= box.north && point.lon >= box.west && point.lon <= box.east,
      ),
  }
}

/** Returns the degrees of longitude from the center to the circle at a latitude; 0 outside the circle. */
function reachAt({ center, metres }: Circle, lat: number): number {
  const scale = Math.cos(radians(center.lat)) * Math.cos(radians(lat))
  const straight = Math.sin(radians(lat - center.lat) / 2) ** 2
  const share = (Math.sin(metres / (2 * EARTH_RADIUS_M)) ** 2 - straight) / scale
  if (!(share > 0)) return 0
  if (share >= 1) return 180
  return (2 * Math.asin(Math.sqrt(share)) * 180) / Math.PI
}

function anyOf(boxes: readonly Box[]): Condition {
  return { any: boxes.map((box) => [boxCondition(box)]) }
}

function boxCondition(box: Box): Condition {
  return { field: 'location', op: 'box', ...box }
}

const METRES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['mm', 0.001],
  ['cm', 0.01],
  ['m', 1],
  ['meters', 1],
  ['km', 1000],
  ['kilometers', 1000],
  ['in', 0.0254],
  ['inch', 0.0254],
  ['ft', 0.3048],
  ['feet', 0.3048],
  ['yd', 0.9144],
  ['yards', 0.9144],
  ['mi', 1609.344],
  ['miles', 1609.344],
  ['nmi', 1852],
  ['NM', 1852],
  ['nauticalmiles', 1852],
])

export const DISTANCE_UNITS = [...METRES.keys()].filter((unit) => unit !== '')

const EARTH_RADIUS_M = 6_371_008.8
const DISTANCE = /^(\d{1,12}(?:\.\d{1,12})?|\.\d{1,12})[ ]?([a-zA-Z]{0,16})$/

export function metresOf(text: string): number | undefined {
  const [, number = '', unit = ''] = DISTANCE.exec(text.trim()) ?? []
  const factor = METRES.get(unit)
  return number === '' || factor === undefined ? undefined : Number(number) * factor
}

export interface Point {
  readonly lat: number
  readonly lon: number
}

export function distanceM(a: Point, b: Point): number {
  const lat = radians(b.lat - a.lat) / 2
  const lon = radians(b.lon - a.lon) / 2
  const h = Math.sin(lat) ** 2 + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.sin(lon) ** 2
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h)))
}

interface Box {
  readonly south: number
  readonly north: number
  readonly west: number
  readonly east: number
}

const SLACK_DEGREES = 1e-6

/** Returns the bounding box of a circle. If `west > east`, the box crosses the date line. */
export function boxAround({ lat, lon }: Point, metres: number): Box {
  const angle = metres / EARTH_RADIUS_M
  const degrees = (angle * 180) / Math.PI + SLACK_DEGREES
  const south = Math.max(-90, lat - degrees)
  const north = Math.min(90, lat + degrees)
  const ratio = Math.sin(angle) / Math.cos(radians(lat))
  // a circle around a pole spans every longitude
  const reach = angle >= Math.PI / 2 || !(ratio < 1) || lat + degrees >= 90 || lat - degrees <= -90
  const across = reach ? 180 : (Math.asin(ratio) * 180) / Math.PI + SLACK_DEGREES
  if (across >= 180) return { south, north, west: -180, east: 180 }
  return { south, north, west: wrapped(lon - across), east: wrapped(lon + across) }
}

function wrapped(lon: number): number {
  return lon < -180 ? lon + 360 : lon > 180 ? lon - 360 : lon
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}
