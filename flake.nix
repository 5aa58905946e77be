{
  description = "Finds the files that changed without you, and mends them";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "steadfast";
          version = (nixpkgs.lib.importTOML ./Cargo.toml).workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "steadfast-cli" "--all-features" ];
          nativeBuildInputs = [ pkgs.cmake ];
          # The whole check needs a network and root; `cargo xtask test` runs it.
          doCheck = false;
          postInstall = ''
            $out/bin/steadfast help --manual $out/share
          '';
          meta = {
            description = "Finds the files that changed without you, and mends them";
            license = with nixpkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "steadfast";
          };
        };
      });
    };
}
