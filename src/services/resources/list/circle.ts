/**
 * The places within a circle, counted without a look at most of them: strips of latitude cut the circle into boxes that are
 * wholly inside, of which the store knows the number, and boxes over the edge, where each place is measured.
 */
import type { Condition } from '#storage'
import { boxAround, distanceM, EARTH_RADIUS_M, radians, type Box, type Point } from './distance.ts'

export interface Circle {
  readonly center: Point
  readonly metres: number
}

export interface CutCircle {
  /** has the whole circle */
  readonly around: Condition
  /** one of these lists holds: inside for certain; undefined when there is no such box */
  readonly inside: Condition | undefined
  /** one of these lists holds: to be measured, unless it is inside for certain */
  readonly edge: Condition
  isInside(point: Point): boolean
}

const STRIPS = 16
/** relative, and in degrees: more than rounding */
const TOLERANCE = 1e-6
/** of the distance; the edge belongs to the circle, whatever rounding does */
const SLACK = 1e-9

export function isWithin({ center, metres }: Circle, point: Point): boolean {
  return distanceM(center, point) <= metres * (1 + SLACK)
}

export function aroundCircle({ center, metres }: Circle): Condition {
  return boxCondition(boxAround(center, metres))
}

/** Undefined where strips are no boxes: over a pole, across the date line, or over a large part of the globe. */
export function cutCircle(circle: Circle): CutCircle | undefined {
  const { center, metres } = circle
  const { south, north, west, east } = boxAround(center, metres)
  if (west > east || east - west > 180 || south <= -90 || north >= 90) return undefined
  // neighbours share the very same number: rounding leaves no gap between them
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
    // the circle is widest in between
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

/** Degrees of longitude from the center to the circle at a latitude; 0 where it is not. */
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
