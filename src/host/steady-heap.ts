/** A setting of V8 that keeps requests of a burst from staying in memory. */
import { setFlagsFromString } from 'node:v8'

/**
 * Has this process make every object where young ones are collected. Else V8 makes those of a kind that once lived long,
 * as in a burst of requests, in its old space from then on, where each that is done with still holds all that it points
 * to until the next great collection: requests then survive by their thousands, and collecting young objects takes 15 ms
 * instead of 3. For a process that is ours, before it has much to do: no library should change this for its users.
 */
export function keepHeapSteady(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
