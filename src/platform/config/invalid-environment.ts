/** A fault in the environment. Its message names every variable at fault; it is shown without a stack. */
export class InvalidEnvironment extends Error {
  override readonly name = 'InvalidEnvironment';
}
