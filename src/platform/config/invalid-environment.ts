/** Invalid environment variables. The message names each of them; it is printed without a stack. */
export class InvalidEnvironment extends Error {
  override readonly name = 'InvalidEnvironment';
}
